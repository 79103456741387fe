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
from apps.billing.taxes.cases import Sale, case_of, charge_of
from apps.billing.taxes.counting import Charge
from apps.core.messages.fields import Invalid
from apps.core.text.countries import country_code
from apps.core.text.vat_numbers import EU, is_vat_number
from apps.stores.models import Store
from apps.stores.selectors import approved_verification


@dataclass(frozen=True)
class LineSource:
    """Records that a line's rate may come from; `price` with its product."""

    tax_rate: TaxRate | None = None
    price: Price | None = None


@dataclass(frozen=True)
class SaleParties:
    """`customer` None: nobody is named yet, as while a draft is typed."""

    store: Store
    mode: str
    customer: Customer | None
    day: date


@dataclass(frozen=True)
class Choice:
    """Charge of each line, and the usual case that decided."""

    charges: tuple[Charge | None, ...]
    case: TaxCase | None


def seller_country(store: Store) -> str:
    """As registers know it."""
    verification = approved_verification(store)
    country = verification.business_country if verification is not None else store.country
    return country_code(country) or ""


def buyer_country(customer: Customer) -> str:
    """The customer's own, or else the one of the free-form address."""
    return customer.country or country_code((customer.address or {}).get("country")) or ""


def newest_check(customer: Customer) -> VatCheck | None:
    """The newest question about the number that the customer has now."""
    if not customer.vat_number:
        return None
    rows = VatCheck.objects.filter(customer=customer, number=customer.vat_number)
    return rows.order_by("-created_at", "-id").first()


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
    settings = settings_of(parties.store, parties.mode)
    usual = _usual(parties, settings)
    charges: list[Charge | None] = []
    cases: list[TaxCase] = []
    for source in sources:
        named = _named(parties, source, document_rate, document_bps)
        if is_cycle and named is not None and not _may_be(parties, named):
            named = None
        if named is not None:
            charges.append(named)
            continue
        own = _own(source, settings)
        case, charge = usual_charge(usual, own, source, settings)
        charges.append(charge)
        if case is not None:
            cases.append(case)
    _check_buyer(parties, charges)
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


def _own(source: LineSource, settings: TaxSettings) -> Charge | None:
    """Steps 5 to 7: the rate at home."""
    price = source.price
    rate = None if price is None else price.tax_rate or price.product.tax_rate
    rate = rate or settings.tax_rate
    return None if rate is None else Charge.of(rate)


def _usual(parties: SaleParties, settings: TaxSettings) -> Sale | None:
    """The facts of the usual case but for what is sold; None where none is chosen."""
    customer = parties.customer
    if not settings.is_automatic and not settings.is_small_business:
        return None
    country = "" if customer is None else buyer_country(customer)
    return Sale(
        seller_country=seller_country(parties.store),
        buyer_country=country,
        is_business=customer is not None and is_business(customer, country),
        supply_type=settings.supply_type,
        day=parties.day,
        charges_abroad=settings.charges_abroad,
        is_small_business=settings.is_small_business,
    )


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


def _may_be(parties: SaleParties, charge: Charge) -> bool:
    try:
        _check_buyer(parties, [charge])
    except Invalid:
        return False
    return True


def _check_buyer(parties: SaleParties, charges: Sequence[Charge | None]) -> None:
    """Raises Invalid: reverse charge and goods without VAT are for businesses whose number holds,
    and goods leave the seller's country within the EU."""
    customer = parties.customer
    categories = {charge.category for charge in charges if charge is not None}
    if customer is None or not categories & {"AE", "K"}:
        return
    country = buyer_country(customer)
    if not is_business(customer, country):
        raise Invalid("tax_rate_id", "buyer_without_number")
    if "K" in categories and (country not in EU or country == seller_country(parties.store)):
        raise Invalid("tax_rate_id", "buyer_not_abroad")
