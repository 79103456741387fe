"""Seller and buyer of an invoice: the store's verified business, and the customer with an address
of any shape.

A finalized invoice keeps both as they were (decision 840); a draft has those of today.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from apps.billing.models import Customer, Invoice
from apps.billing.taxes.choosing import SellerRecords, buyer_country
from apps.billing.taxes.countries import VAT_COUNTRIES
from apps.core.text.countries import country_code, country_name
from apps.stores.models import Store, Verification
from apps.stores.selectors import approved_verification

# The usual parts of a postal address in the order they are written; what else there is follows.
_ADDRESS_ORDER = (
    *(
        "company",
        "care_of",
        "line1",
        "line2",
        "line3",
        "street",
        "street1",
        "street2",
        "address",
        "address1",
        "address2",
    ),
    "postal_code",
    "postcode",
    "zip",
    "city",
    "town",
    "region",
    "state",
    "province",
    "country",
)
_ADDRESS_LINES_MAX = 12
_POSTAL_CODES = ("postal_code", "postcode", "zip")
_TOWNS = ("city", "town")


@dataclass(frozen=True)
class Biller:
    """`country` is empty where it makes nobody a party to an e-invoice; `shown_country` is the one
    that people read."""

    name: str
    registration_number: str | None
    tax_id: str | None
    street: str
    postal_code: str
    city: str
    country: str
    shown_country: str
    email: str
    phone: str

    @property
    def charges_vat(self) -> bool:
        """Tells whether the tax of its country is VAT."""
        return country_code(self.shown_country) in VAT_COUNTRIES

    @property
    def address(self) -> list[str]:
        """The lines of the postal address, without the country."""
        town = f"{self.postal_code} {self.city}".strip()
        return [line for line in (self.street, town) if line]

    @property
    def country_name(self) -> str:
        return country_name(self.shown_country)


@dataclass(frozen=True)
class Buyer:
    """`postal_address` is of any shape; `own_country` is what the customer says beside it, and
    `country` the one that counts, empty when nobody knows it."""

    name: str
    email: str
    postal_address: Mapping[str, Any]
    own_country: str
    country: str
    vat_number: str
    electronic_address: str
    reference: str

    @property
    def address(self) -> list[str]:
        """The lines people write. A country of their own is at the end of an address that names
        none."""
        lines = address_lines(self.postal_address)
        if self.own_country and not self.postal_address.get("country"):
            lines = [*lines, country_name(self.own_country)]
        return lines


def parties_to_keep(
    invoice: Invoice, seller: SellerRecords | None = None
) -> Mapping[str, Mapping[str, object]]:
    """Seller and buyer as they are now, for the columns of an invoice that is finalized; `seller`
    when it is at hand."""
    biller = _seller_now(invoice) if seller is None else _biller(invoice.store, seller.verification)
    return {
        "seller": asdict(biller),
        "buyer": asdict(_buyer_now(invoice.customer)),
    }


def seller_of(invoice: Invoice) -> Biller:
    """The seller that was kept, or else the one of today."""
    return _seller_now(invoice) if invoice.seller is None else Biller(**invoice.seller)


def buyer_of(invoice: Invoice) -> Buyer:
    """The buyer that was kept, or else the one of today."""
    return _buyer_now(invoice.customer) if invoice.buyer is None else Buyer(**invoice.buyer)


def in_country_of_seller(store: Store, country: str) -> bool:
    """True if a store sells from a country, by its approved verification or by what its owner
    says."""
    verification = approved_verification(store)
    return (store.country if verification is None else verification.business_country) == country


def _seller_now(invoice: Invoice) -> Biller:
    """The store as a party, with its own address; what is in registers comes from its approved
    verification, and without one from what its owner says."""
    return _biller(invoice.store, approved_verification(invoice.store))


def _biller(store: Store, verification: Verification | None) -> Biller:
    if verification is not None:
        name = verification.business_legal_name or store.legal_name
        number = verification.registration_number or store.register_number
        country = shown_country = verification.business_country
        tax_id = verification.tax_id or store.vat_number
    else:
        name, number, tax_id = store.legal_name, store.register_number, store.vat_number
        shown_country = store.country
        # Nobody is a party to an e-invoice by a country alone.
        country = store.country if store.legal_name else ""
    return Biller(
        name=name or store.name,
        registration_number=number,
        tax_id=tax_id,
        street=store.street,
        postal_code=store.postal_code,
        city=store.city,
        country=country,
        shown_country=shown_country,
        email=store.support_email,
        phone=store.support_phone,
    )


def _buyer_now(customer: Customer) -> Buyer:
    return Buyer(
        name=customer.name or customer.email,
        email=customer.email,
        postal_address=customer.address or {},
        own_country=customer.country or "",
        country=buyer_country(customer),
        vat_number=customer.vat_number or "",
        electronic_address=customer.electronic_address or "",
        reference=customer.buyer_reference or "",
    )


def address_lines(address: Mapping[str, Any] | None) -> list[str]:
    """The texts of an address of any shape, in the order people write them."""
    pairs = (address or {}).items()
    fields = {
        key: str(value).strip()
        for key, value in pairs
        if isinstance(value, (str, int)) and not isinstance(value, bool)
    }
    code, town = (
        next((key for key in keys if fields.get(key)), None) for keys in (_POSTAL_CODES, _TOWNS)
    )
    if code is not None and town is not None:
        fields[town] = f"{fields.pop(code)} {fields[town]}"
    if "country" in fields:
        fields["country"] = country_name(fields["country"])
    keys = [key for key in _ADDRESS_ORDER if key in fields]
    ordered = [*keys, *(key for key in fields if key not in keys)]
    return [fields[key] for key in ordered if fields[key]][:_ADDRESS_LINES_MAX]
