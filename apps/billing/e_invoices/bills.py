"""A bill as EN 16931 sees it: what every format of an e-invoice is written from.

Amounts are cents, as everywhere; a unit price is text, since one without its tax may have more
digits.
"""

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

INVOICE = "380"
CREDIT_NOTE = "381"
NOT_TAXED = "O"
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
E_MAIL = "EM"
# The list of electronic addresses (EAS) in which a country's VAT numbers are.
_VAT_LISTS = {
    "AD": "9922",
    "AL": "9923",
    "AT": "9914",
    "BA": "9924",
    "BE": "9925",
    "BG": "9926",
    "CH": "9927",
    "CY": "9928",
    "CZ": "9929",
    "DE": "9930",
    "EE": "9931",
    "EL": "9933",
    "ES": "9920",
    "FR": "9957",
    "GB": "9932",
    "HR": "9934",
    "HU": "9910",
    "IE": "9935",
    "IT": "0211",
    "LI": "9936",
    "LT": "9937",
    "LU": "9938",
    "LV": "9939",
    "MC": "9940",
    "ME": "9941",
    "MK": "9942",
    "MT": "9943",
    "NL": "9944",
    "PL": "9945",
    "PT": "9946",
    "RO": "9947",
    "RS": "9948",
    "SI": "9949",
    "SK": "9950",
    "SM": "9951",
    "TR": "9952",
}
# The lists (ISO 6523) of the countries' registers, and the form that their numbers have.
_REGISTERS = {
    "BE": ("0208", 10),
    "DK": ("0184", 8),
    "EE": ("0191", 8),
    "FI": ("0212", 8),
    "FR": ("0002", 9),
    "NL": ("0106", 8),
    "NO": ("0192", 9),
    "SE": ("0007", 10),
}


@dataclass(frozen=True)
class Identifier:
    """A number, and the code of the list that it is in; empty when it is in none."""

    value: str
    scheme: str = ""


@dataclass(frozen=True)
class Address:
    country: str
    lines: tuple[str, ...] = ()
    postal_code: str = ""
    city: str = ""
    region: str = ""


@dataclass(frozen=True)
class Party:
    """Seller or buyer. `endpoint` is its electronic address."""

    name: str
    address: Address
    email: str = ""
    phone: str = ""
    legal_id: Identifier | None = None
    vat_number: str = ""
    tax_number: str = ""
    endpoint: Identifier | None = None


@dataclass(frozen=True)
class Tax:
    """A category of VAT with its rate, and why nothing is charged where it isn't."""

    category: str
    rate_bps: int = 0
    reason: str = ""
    reason_code: str = ""

    @property
    def has_rate(self) -> bool:
        return self.category != NOT_TAXED


@dataclass(frozen=True)
class BillLine:
    name: str
    quantity: int
    unit_price: str
    net_cents: int
    tax: Tax


@dataclass(frozen=True)
class Allowance:
    """A discount of what has one tax."""

    cents: int
    tax: Tax
    percent: str = ""
    base_cents: int = 0


@dataclass(frozen=True)
class TaxShare:
    """The part of a bill that has one tax."""

    tax: Tax
    basis_cents: int
    tax_cents: int


@dataclass(frozen=True)
class Note:
    """A text, and the code of its subject (UNTDID 4451) where it has one."""

    text: str
    code: str = ""


@dataclass(frozen=True)
class Preceding:
    """The invoice that a credit note corrects. `network_number` is the one that a state's system
    gave it, empty when it has none."""

    number: str
    issued: date
    network_number: str = ""


@dataclass(frozen=True)
class Bill:
    """`kind` is its code in UNTDID 1001. Of `supplied_from` and `supplied_until` the second is the
    last day of the period; both are one day when there is no period."""

    kind: str
    number: str
    issued: date
    due: date | None
    supplied_from: date
    supplied_until: date
    currency: str
    notes: tuple[Note, ...]
    order_number: str
    buyer_reference: str
    preceding: Preceding | None
    seller: Party
    buyer: Party
    # Where goods of another member state's buyer go.
    deliver_to: Address | None
    lines: tuple[BillLine, ...]
    allowances: tuple[Allowance, ...]
    shares: tuple[TaxShare, ...]
    prepaid_cents: int
    terms: str
    payment_url: str
    # Its tax is that of the consumer's country (One Stop Shop).
    is_taxed_abroad: bool = False
    # What one of its currency is in złoty, where a Polish seller's tax has to be stated in these.
    zloty_rate: Decimal | None = None

    @property
    def is_credit_note(self) -> bool:
        return self.kind == CREDIT_NOTE

    @property
    def has_period(self) -> bool:
        return self.supplied_from != self.supplied_until

    @property
    def lines_cents(self) -> int:
        return sum(line.net_cents for line in self.lines)

    @property
    def allowance_cents(self) -> int:
        return sum(allowance.cents for allowance in self.allowances)

    @property
    def basis_cents(self) -> int:
        return self.lines_cents - self.allowance_cents

    @property
    def tax_cents(self) -> int:
        return sum(share.tax_cents for share in self.shares)

    @property
    def total_cents(self) -> int:
        return self.basis_cents + self.tax_cents

    @property
    def due_cents(self) -> int:
        return self.total_cents - self.prepaid_cents


def plain(text: str | None) -> str:
    """Without what XML can't hold, and without space around it."""
    return _NOT_IN_XML.sub("", text or "").strip()


def legal_identifier(number: str, country: str | None) -> Identifier | None:
    """The number of a register, with its list where its form says which it is in."""
    digits = re.sub(r"[\s.\-]", "", number)
    scheme, length = _REGISTERS.get(country or "", ("", 0))
    if scheme and digits.isascii() and digits.isdigit() and len(digits) == length:
        return Identifier(digits, scheme)
    return Identifier(number) if number else None


def vat_endpoint(vat_number: str) -> Identifier | None:
    """The electronic address that a VAT number is in the networks that have one of each."""
    scheme = _VAT_LISTS.get(vat_number[:2])
    return Identifier(vat_number, scheme) if scheme else None
