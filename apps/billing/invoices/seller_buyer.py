"""Seller and buyer of an invoice: the store's verified business, and the customer with an address
of any shape."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.billing.models import Invoice
from apps.core.text.countries import country_name
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
    name: str
    registration_number: str | None
    tax_id: str | None
    street: str
    postal_code: str
    city: str
    country: str
    country_name: str
    email: str

    @property
    def address(self) -> list[str]:
        """The lines of the postal address, without the country."""
        town = f"{self.postal_code} {self.city}".strip()
        return [line for line in (self.street, town) if line]


@dataclass(frozen=True)
class Buyer:
    name: str
    email: str
    address: list[str]
    vat_number: str = ""


def seller_of(invoice: Invoice) -> Biller:
    """The store as a party, with its own address; what stands in registers comes from its approved
    verification, and without one from what its owner says."""
    store = invoice.store
    verification = approved_verification(invoice.store)
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
        country_name=country_name(shown_country),
        email=store.support_email,
    )


def buyer_of(invoice: Invoice) -> Buyer:
    """A country of their own stands at the end of an address that names none."""
    customer = invoice.customer
    lines = address_lines(customer.address)
    if customer.country and not (customer.address or {}).get("country"):
        lines = [*lines, country_name(customer.country)]
    return Buyer(customer.name or customer.email, customer.email, lines, customer.vat_number or "")


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
