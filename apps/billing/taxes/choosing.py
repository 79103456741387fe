"""The rule by which a line gets its rate: the nearest that says something counts. It is the line's,
the invoice's or subscription's, the customer's, that of the usual case unless it is domestic, the
price's, the product's, the store's (docs/guide/invoicing.md).

Where nothing says anything, the line isn't taxed and nothing is said about its tax.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from apps.billing.models import Customer, Price, TaxRate, TaxSettings, VatCheck
from apps.billing.models.tax import TaxCase
from apps.billing.taxes.cases import Sale, case_of, charge_of, leaves_within_eu
from apps.billing.taxes.counting import Charge
from apps.core.messages.fields import Invalid
from apps.core.text.countries import country_code
from apps.core.text.vat_numbers import NORTHERN_IRELAND, is_northern_irish, is_vat_number
from apps.stores.models import Store, Verification
from apps.stores.selectors import approved_verification


@dataclass(frozen=True)
class LineSource:
    """Records that a line's rate may come from; `price` with its product."""

    tax_rate: TaxRate | None = None
    price: Price | None = None


@dataclass(frozen=True)
class SellerRecords:
    """Records of a store in a mode that decide who sells and what is charged: read once for all
    that is billed together."""

    settings: TaxSettings
    verification: Verification | None

    @classmethod
    def of(cls, store: Store, mode: str) -> "SellerRecords":
        return cls(settings_of(store, mode), approved_verification(store))


@dataclass(frozen=True)
class SaleParties:
    """`customer` None: nobody is named yet, as while a draft is typed. `seller` when it is at
    hand."""

    store: Store
    mode: str
    customer: Customer | None
    day: date
    seller: SellerRecords | None = None

    @property
    def settings(self) -> TaxSettings:
        return settings_of(self.store, self.mode) if self.seller is None else self.seller.settings

    @property
    def seller_country(self) -> str:
        """As registers know it."""
        if self.seller is None:
            return seller_country(self.store)
        return _country_of(self.store, self.seller.verification)

    @property
    def seller_number(self) -> str:
        """Of a verified business the number that was verified."""
        seller = self.seller
        verification = approved_verification(self.store) if seller is None else seller.verification
        return (verification.tax_id if verification else self.store.vat_number) or ""


@dataclass(frozen=True)
class Choice:
    """Charge of each line, and the usual case that decided."""

    charges: tuple[Charge | None, ...]
    case: TaxCase | None


def seller_country(store: Store) -> str:
    """As registers know it."""
    return _country_of(store, approved_verification(store))


def _country_of(store: Store, verification: Verification | None) -> str:
    country = verification.business_country if verification is not None else store.country
    return country_code(country) or ""


def buyer_country(customer: Customer) -> str:
    """The customer's own, or else the one of the free-form address."""
    return customer.country or country_code((customer.address or {}).get("country")) or ""


def settled_check(customer: Customer) -> VatCheck | None:
    """The newest answer about it; what a registry didn't answer changes nothing."""
    if not customer.vat_number:
        return None
    rows = VatCheck.objects.filter(customer=customer, number=customer.vat_number)
    return rows.exclude(result=VatCheck.Result.UNAVAILABLE).order_by("-created_at", "-id").first()


def is_business(customer: Customer, country: str) -> bool:
    """The customer's number has its country's form, and no registry has refused it."""
    number = customer.vat_number
    if not number or not country or not is_vat_number(number, country):
        return False
    check = settled_check(customer)
    return check is None or check.result == VatCheck.Result.VALID


def settings_of(store: Store, mode: str) -> TaxSettings:
    """The store's, or a row that isn't saved and says nothing."""
    rows = TaxSettings.objects.filter(store=store, mode=mode).select_related("tax_rate")
    return rows.first() or TaxSettings(store=store, mode=mode)


def choose(
    parties: SaleParties,
    sources: Sequence[LineSource],
    document_rate: TaxRate | None = None,
    document_bps: int | None = None,
    *,
    is_cycle: bool = False,
) -> Choice:
    """The charge of each line, by the rule above. Raises Invalid for a buyer who may not be charged
    like that; in a cycle, which nobody looks at, such a rate is passed over."""
    settings = parties.settings
    usual = _usual(parties, settings)
    charges: list[Charge | None] = []
    cases: list[TaxCase] = []
    for n, source in enumerate(sources):
        named = _named(parties, source, document_rate, document_bps)
        if is_cycle and named is not None and not _may_be(parties, named):
            named = None
        if named is not None:
            name = "tax_rate_id" if source.tax_rate is None else f"line_items[{n}].tax_rate_id"
            _check_buyer(parties.store, parties.customer, named, name)
            charges.append(named)
            continue
        own = _own(parties, source, settings, is_cycle=is_cycle)
        case, charge = usual_charge(usual, own, source, settings)
        if charge is not None:
            _check_buyer(parties.store, parties.customer, charge)
        charges.append(charge)
        if case is not None:
            cases.append(case)
    distinct = set(cases)
    return Choice(
        tuple(charges),
        None if not distinct else distinct.pop() if len(distinct) == 1 else TaxCase.MIXED,
    )


def _named(
    parties: SaleParties,
    source: LineSource,
    document_rate: TaxRate | None,
    document_bps: int | None,
) -> Charge | None:
    """Steps 1 to 3."""
    customer = parties.customer
    rate = source.tax_rate or document_rate
    if rate is None and document_bps is not None:
        return Charge.plain(document_bps)
    if rate is None and customer is not None:
        rate = customer.tax_rate
    return None if rate is None else Charge.of(rate)


def _own(
    parties: SaleParties, source: LineSource, settings: TaxSettings, *, is_cycle: bool
) -> Charge | None:
    """Steps 5 to 7: the rate at home."""
    price = source.price
    rates = [] if price is None else [price.tax_rate, price.product.tax_rate]
    for rate in (*rates, settings.tax_rate):
        if rate is None:
            continue
        charge = Charge.of(rate)
        if is_cycle and not _may_be(parties, charge):
            continue
        return charge
    return None


def _usual(parties: SaleParties, settings: TaxSettings) -> Sale | None:
    """The facts of the usual case but for what is sold; None where none is chosen."""
    customer = parties.customer
    if not settings.is_automatic and not settings.is_small_business:
        return None
    country = "" if customer is None else buyer_country(customer)
    is_of_business = customer is not None and is_business(customer, country)
    seller = parties.seller_country
    if seller == "GB":
        seller = _with_northern_ireland(seller, parties.seller_number)
    if customer is not None and is_of_business:
        country = _with_northern_ireland(country, customer.vat_number)
    return Sale(
        seller_country=seller,
        buyer_country=country,
        is_business=is_of_business,
        supply_type=settings.supply_type,
        day=parties.day,
        charges_abroad=settings.charges_abroad,
        is_small_business=settings.is_small_business,
    )


def _with_northern_ireland(country: str, number: str | None) -> str:
    """A country, or Northern Ireland if the number is one of its own."""
    return NORTHERN_IRELAND if country == "GB" and is_northern_irish(number or "") else country


def usual_charge(
    usual: Sale | None, own: Charge | None, source: LineSource, settings: TaxSettings
) -> tuple[TaxCase | None, Charge | None]:
    """Charge of a line of a usual sale. What is exempt at home is exempt for everybody."""
    if usual is None:
        return None, own
    if own is not None and own.category == "E" and not usual.is_small_business:
        return TaxCase.EXEMPT, own
    product_type = None if source.price is None else source.price.product.supply_type
    sale = replace(usual, supply_type=product_type or settings.supply_type)
    case = case_of(sale)
    return case, charge_of(case, sale, own)


def check_rate(store: Store, customer: Customer, rate: TaxRate | None) -> None:
    """The rate that a customer is given. Raises Invalid for a buyer who may not be charged it."""
    if rate is not None:
        _check_buyer(store, customer, Charge.of(rate))


def _may_be(parties: SaleParties, charge: Charge) -> bool:
    try:
        _check_buyer(parties.store, parties.customer, charge)
    except Invalid:
        return False
    return True


def _check_buyer(
    store: Store, customer: Customer | None, charge: Charge, name: str = "tax_rate_id"
) -> None:
    """Raises Invalid: reverse charge and goods without VAT are for businesses whose number holds,
    and goods leave the seller's country within the EU."""
    if customer is None or charge.category not in ("AE", "K"):
        return
    country = buyer_country(customer)
    if not is_business(customer, country):
        raise Invalid(name, "buyer_without_number")
    if charge.category == "K":
        buyer = _with_northern_ireland(country, customer.vat_number)
        if not leaves_within_eu(seller_country(store), buyer):
            raise Invalid(name, "buyer_not_abroad")
