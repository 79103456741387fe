"""The formats of e-invoices: each with its syntax, what it calls itself, and what it asks of a bill
beyond EN 16931. FA(3) is none of that standard's."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.utils.translation import gettext_noop

from apps.billing.e_invoices.bills import (
    E_MAIL,
    NOT_TAXED,
    Bill,
    Identifier,
    Note,
    Party,
    vat_endpoint,
)
from apps.billing.e_invoices.cii import cii
from apps.billing.e_invoices.fa3 import (
    POLAND,
    address_lines,
    fa3,
    is_known_rate,
    nip_of,
    wants_zloty_rate,
)
from apps.billing.e_invoices.ubl import ubl

_EN_16931 = "urn:cen.eu:en16931:2017"
_XRECHNUNG = f"{_EN_16931}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
_PEPPOL = f"{_EN_16931}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"
_BILLING = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"

_REFERENCE = gettext_noop("The buyer’s reference is missing (in Germany the “Leitweg-ID”).")
_REFERENCE_OR_ORDER = gettext_noop("The buyer’s reference or order number is missing.")
_PHONE = gettext_noop("Your phone number for customers is missing. Add it under Settings.")
_EMAIL = gettext_noop("Your email address for customers is missing. Add it under Settings.")
_SELLER_PLACE = gettext_noop("Your postal code and city are missing. Add them under Settings.")
_BUYER_PLACE = gettext_noop("The postal code and city in the customer’s address are missing.")
_SELLER_ENDPOINT = gettext_noop("Peppol needs your VAT number: it is your address there.")
_BUYER_ENDPOINT = gettext_noop("Peppol needs the customer’s electronic address or VAT number.")
_NOT_IN_XRECHNUNG = gettext_noop("XRechnung has no invoices outside VAT (category O).")
_NOT_POLISH = gettext_noop("KSeF takes the invoices of Polish sellers only.")
_NIP = gettext_noop("KSeF needs your Polish tax number (NIP).")
_POLISH_PLACE = gettext_noop("KSeF needs your address. Add it under Settings.")
_ONE_STOP_SHOP = gettext_noop("What is taxed by the One Stop Shop doesn’t go through KSeF.")
_POLISH_RATE = gettext_noop("KSeF knows no such rate. Polish rates are 23, 22, 8, 7, 5, 4 and 3%.")
_IN_ZLOTY = gettext_noop("It is written when you send it through KSeF, with a rate of PLN.")

# Code de commerce, articles L441-9, L441-10 and D441-5.
_FRENCH_NOTES = (
    Note("Indemnité forfaitaire pour frais de recouvrement en cas de retard : 40 EUR.", "PMT"),
    Note("Pénalités de retard : trois fois le taux d’intérêt légal.", "PMD"),
    Note("Pas d’escompte pour paiement anticipé.", "AAB"),
)


@dataclass(frozen=True)
class EInvoiceFormat:
    """`key` names it in addresses; `lacks` says in English what a bill is missing for it, empty
    when nothing. `country` is that of its sellers, where it is one country's own."""

    key: str
    name: str
    write: Callable[[Bill, str, str], bytes]
    guideline: str
    process: str
    lacks: Callable[[Bill], str]
    is_peppol: bool = False
    country: str = ""

    def is_for(self, country: str | None) -> bool:
        """True if sellers of a country may use it."""
        return self.country in ("", country)

    def addressed(self, bill: Bill) -> Bill:
        """With the parties' electronic addresses as the format has them; not in a country's own."""
        return bill if self.country else _addressed(bill, is_peppol=self.is_peppol)

    def xml(self, bill: Bill) -> bytes:
        """The document; see `lacks`."""
        addressed = self.addressed(bill)
        if self.is_peppol:
            addressed = _with_one_note(addressed)
        if self.process:
            return self.write(addressed, self.guideline, self.process)
        if bill.seller.address.country == "FR":
            return self.write(_with_french_notes(addressed), self.guideline, _french_process(bill))
        return self.write(addressed, self.guideline, "")


def _nothing(bill: Bill) -> str:
    return ""


def _lacks_of_xrechnung(bill: Bill) -> str:
    if not bill.buyer_reference:
        return _REFERENCE
    if any(share.tax.category == NOT_TAXED for share in bill.shares):
        return _NOT_IN_XRECHNUNG
    return _lacks_of_german_seller(bill)


def _lacks_of_german_seller(bill: Bill) -> str:
    seller = bill.seller
    if not seller.phone:
        return _PHONE
    if not seller.email:
        return _EMAIL
    if not (seller.address.postal_code and seller.address.city):
        return _SELLER_PLACE
    address = bill.buyer.address
    return "" if address.postal_code and address.city else _BUYER_PLACE


def _lacks_of_peppol(bill: Bill) -> str:
    if not (bill.buyer_reference or bill.order_number):
        return _REFERENCE_OR_ORDER
    if _endpoint(bill.seller, is_peppol=True) is None:
        return _SELLER_ENDPOINT
    if _endpoint(bill.buyer, is_peppol=True) is None:
        return _BUYER_ENDPOINT
    if bill.seller.address.country == bill.buyer.address.country == "DE":
        return _lacks_of_xrechnung(bill)
    return ""


def _lacks_of_fa3(bill: Bill) -> str:
    seller = bill.seller
    if seller.address.country != POLAND:
        return _NOT_POLISH
    if not nip_of(seller):
        return _NIP
    if not address_lines(seller.address):
        return _POLISH_PLACE
    if bill.is_taxed_abroad:
        return _ONE_STOP_SHOP
    if not all(is_known_rate(share.tax) for share in bill.shares):
        return _POLISH_RATE
    return _IN_ZLOTY if wants_zloty_rate(bill) and bill.zloty_rate is None else ""


def _with_one_note(bill: Bill) -> Bill:
    """Bill with its notes as one: Peppol takes no second one, in either syntax."""
    text = "\n".join(note.text for note in bill.notes)
    return replace(bill, notes=(Note(text),) if text else ())


def _with_french_notes(bill: Bill) -> Bill:
    """Bill with the notes that French law wants on every invoice between businesses."""
    return replace(bill, notes=(*bill.notes, *_FRENCH_NOTES))


def _french_process(bill: Bill) -> str:
    """Services, which are to be paid or were paid."""
    return "S1" if bill.due_cents or bill.is_credit_note else "S2"


def _addressed(bill: Bill, *, is_peppol: bool) -> Bill:
    """With electronic addresses as the format wants them. What is outside VAT names no VAT numbers
    (BR-O-02); the seller's is then the number of its business."""
    seller, buyer = (
        replace(party, endpoint=_endpoint(party, is_peppol=is_peppol))
        for party in (bill.seller, bill.buyer)
    )
    if any(share.tax.category == NOT_TAXED for share in bill.shares):
        number = seller.legal_id or Identifier(seller.vat_number)
        seller = replace(seller, vat_number="", legal_id=number if number.value else None)
        buyer = replace(buyer, vat_number="")
    return replace(bill, seller=seller, buyer=buyer)


def _endpoint(party: Party, *, is_peppol: bool) -> Identifier | None:
    """Its own electronic address; else in Peppol its VAT number, elsewhere its email address."""
    if party.endpoint is not None:
        return party.endpoint
    if is_peppol:
        return vat_endpoint(party.vat_number)
    return Identifier(party.email, E_MAIL) if party.email else None


FACTUR_X = EInvoiceFormat("factur-x", "Factur-X", cii, _EN_16931, "", _nothing)
PEPPOL = EInvoiceFormat(
    "peppol", "Peppol BIS Billing 3", ubl, _PEPPOL, _BILLING, _lacks_of_peppol, is_peppol=True
)
FA3 = EInvoiceFormat("fa-3", "KSeF FA(3)", fa3, "FA (3)", "1-0E", _lacks_of_fa3, country=POLAND)
FORMATS = {
    item.key: item
    for item in (
        FACTUR_X,
        EInvoiceFormat("xrechnung", "XRechnung", ubl, _XRECHNUNG, _BILLING, _lacks_of_xrechnung),
        EInvoiceFormat(
            "xrechnung-cii", "XRechnung (CII)", cii, _XRECHNUNG, _BILLING, _lacks_of_xrechnung
        ),
        PEPPOL,
        EInvoiceFormat(
            "peppol-cii",
            "Peppol BIS Billing 3 (CII)",
            cii,
            _PEPPOL,
            _BILLING,
            _lacks_of_peppol,
            is_peppol=True,
        ),
        FA3,
    )
}
# Those of the European standard, which any seller's customers may be sent.
COMMON_FORMATS = {key: item for key, item in FORMATS.items() if not item.country}
