"""An invoice as data for accounting software, in the formats of `apps.billing.e_invoices`.

Every figure is the one that the document shows. An invoice without what the standard asks for has
none; see `refusal`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext_noop

from apps.billing.documents.invoices import hosted_url
from apps.billing.e_invoices.bills import (
    CREDIT_NOTE,
    INVOICE,
    NOT_TAXED,
    Address,
    Allowance,
    Bill,
    BillLine,
    Identifier,
    Note,
    Party,
    Preceding,
    Tax,
    TaxShare,
    legal_identifier,
    plain,
)
from apps.billing.e_invoices.formats import FA3, FACTUR_X, FORMATS, EInvoiceFormat
from apps.billing.e_invoices.reasons import explained
from apps.billing.invoices.seller_buyer import Biller, Buyer, buyer_of, seller_of
from apps.billing.models import CreditNote, Invoice, InvoiceLine, InvoiceTax
from apps.billing.models.tax import TaxCase
from apps.billing.numbers import credit_note_number, formatted_number
from apps.billing.states import DRAFT, OPEN, PAID, UNCOLLECTIBLE, VOID
from apps.core.errors import Failure, RefusalKind
from apps.core.money import CENTS, decimal_from_atomic, text_from_cents
from apps.core.text.countries import country_code
from apps.core.text.vat_numbers import is_northern_irish, prefix_of

FILE_NAME = "factur-x.xml"
PROFILE = "EN 16931"
# Codes of the standard's lists.
# Whose rules ask for the VAT numbers of the seller, and of the buyer.
_NAMES_SELLER = {"K", "G"}
_NAMES_BUYER = {"AE", "K"}
_NOT_TAXED_CODE = "VATEX-EU-O"
_NOT_TAXED_REASON = "Not subject to VAT"
_TERMS = {OPEN: "Pay online: {url}", PAID: "Paid.", UNCOLLECTIBLE: "Closed, not paid."}
_TAX_RATE_MISSING = gettext_noop(
    "It has no tax rate. Set one before you finalize an invoice; enter 0 if no tax is due."
)
_LINE_RATE_MISSING = gettext_noop("Some lines have no tax rate, others have one.")
_NOT_ALONE = gettext_noop("Lines outside VAT can’t be on an e-invoice with others.")
_VAT_NUMBER_MISSING = gettext_noop(
    "Your VAT number is missing. Exports and goods for another EU country need it."
)
_BUYER_NUMBER_MISSING = gettext_noop(
    "The customer’s VAT number is missing. Reverse charge and goods for another EU country need it."
)
_TAX_NUMBER_MISSING = gettext_noop(
    "It charges tax, but your VAT or tax number is missing. Add it under Settings."
)
# Of a price without its tax, and how far a percentage may be from its amount.
_PRICE_PLACES = 8
_ROUNDING_CENTS = 2
_TEST_NOTE = "Test invoice: no real money was charged or moved."
_VAT_FORM = re.compile(r"[A-Z]{2}[0-9A-Z+*]{2,13}", re.ASCII)
_STREETS = (
    ("line1", "street", "street1", "address", "address1"),
    ("line2", "street2", "address2"),
    ("line3",),
)
_CODES = ("postal_code", "postcode", "zip")
_TOWNS = ("city", "town")
_REGIONS = ("state", "region", "province")


class NotAFormat(Failure):
    kind = RefusalKind.NOT_FOUND
    message = "There is no such format of e-invoices"


class LacksSomething(Failure):
    """The invoice can't be written in a format; says what is missing."""

    field = "format"


class Seller:
    """The seller as the standard defines it; see `seller_buyer.seller_of`."""

    def __init__(self, biller: Biller) -> None:
        self.name = plain(biller.name)
        self.email = biller.email
        self.phone = plain(biller.phone)
        self.street = biller.street
        self.postal_code = biller.postal_code
        self.city = biller.city
        self.country = country_code(biller.country)
        self.register_number = plain(biller.registration_number)
        written = plain(biller.tax_id)
        self.vat_number = _vat_number(written, self.country)
        self.tax_number = "" if self.vat_number else written

    @property
    def is_known_to_tax(self) -> bool:
        return bool(self.vat_number or self.tax_number)


def _vat_number(written: str, country: str | None) -> str:
    """The number with its country in front and nothing between, empty when it isn't one."""
    packed = re.sub(r"[\s.\-/]", "", written).upper()
    prefix = prefix_of(country or "")
    is_of_country = packed.startswith(prefix) or (country == "GB" and is_northern_irish(packed))
    return packed if prefix and is_of_country and _VAT_FORM.fullmatch(packed) else ""


def refusal(invoice: Invoice, seller: Seller | None = None) -> str:
    """Message about what an e-invoice lacks, in English; empty when nothing is missing."""
    if invoice.number is None or invoice.status == VOID:
        return gettext_noop("Only invoices that were finalized and not canceled are e-invoices.")
    return _missing(invoice, seller or Seller(seller_of(invoice)))


def missing_of_verified(invoice: Invoice) -> str:
    """Message about what a draft lacks for an e-invoice; empty for stores that can't make any."""
    seller = Seller(seller_of(invoice))
    return _missing(invoice, seller) if seller.country else ""


def _missing(invoice: Invoice, seller: Seller) -> str:
    if not seller.country or not (seller.vat_number or seller.register_number):
        return gettext_noop(
            "Your legal name, country, and VAT or registration number are missing. Add them under"
            " Settings."
        )
    if not buyer_of(invoice).country:
        return gettext_noop("The country in the customer’s address is missing.")
    if not invoice.lines.all():
        return gettext_noop("The invoice has no lines.")
    return _missing_of_taxes(invoice, seller)


def _missing_of_taxes(invoice: Invoice, seller: Seller) -> str:
    """Fields that the rules of each category of VAT ask for and the invoice lacks."""
    taxes = invoice.charged_taxes
    if not taxes:
        return _TAX_RATE_MISSING if seller.is_known_to_tax else ""
    if _is_outside(invoice, taxes, seller):
        return ""
    if invoice.tax_rate_bps is None and any(
        line.tax_category is None for line in invoice.lines.all()
    ):
        return _LINE_RATE_MISSING
    categories = {tax.category for tax in taxes}
    if NOT_TAXED in categories:
        return _NOT_ALONE if len(categories) > 1 else ""
    if not seller.is_known_to_tax:
        return _TAX_NUMBER_MISSING
    if categories & _NAMES_SELLER and not seller.vat_number:
        return _VAT_NUMBER_MISSING
    if categories & _NAMES_BUYER and not _buyer(buyer_of(invoice)).vat_number:
        return _BUYER_NUMBER_MISSING
    return ""


def e_invoice_xml(invoice: Invoice, key: str = FACTUR_X.key) -> bytes | None:
    """The XML in one of `FORMATS`, None when something is missing. What is paid counts until now,
    as in the document it goes with."""
    chosen = FORMATS[key]
    seller = Seller(seller_of(invoice))
    if refusal(invoice, seller):
        return None
    bill = bill_of(invoice, seller)
    return None if chosen.lacks(bill) else chosen.xml(bill)


def required_xml(invoice: Invoice, key: str) -> bytes:
    """The XML in a format. Raises NotAFormat, or LacksSomething with what is missing."""
    return required_bill(invoice, key)[1]


def _as_it_is(bill: Bill) -> Bill:
    return bill


def required_bill(
    invoice: Invoice, key: str, completed: Callable[[Bill], Bill] = _as_it_is
) -> tuple[Bill, bytes]:
    """The invoice as a format says it, with the addresses that it goes to, and its XML; `completed`
    adds what only the sender of a bill knows. Raises NotAFormat or LacksSomething."""
    seller = Seller(seller_of(invoice))
    missing = refusal(invoice, seller)
    bill = None if missing else completed(bill_of(invoice, seller))
    return _required(key, bill, missing)


def required_credit_note_xml(note: CreditNote, key: str) -> bytes:
    """The credit note in a format. Raises NotAFormat, or LacksSomething with what is missing."""
    return required_credit_note_bill(note, key)[1]


def required_credit_note_bill(
    note: CreditNote, key: str, completed: Callable[[Bill], Bill] = _as_it_is
) -> tuple[Bill, bytes]:
    """Variant of `required_bill` for a credit note."""
    seller = Seller(seller_of(note.invoice))
    missing = _missing(note.invoice, seller)
    bill = None if missing else completed(credit_note_bill(note, seller))
    return _required(key, bill, missing)


def _required(key: str, bill: Bill | None, missing: str) -> tuple[Bill, bytes]:
    chosen = FORMATS.get(key)
    if chosen is None:
        raise NotAFormat
    if bill is None or chosen.lacks(bill):
        raise LacksSomething(missing if bill is None else chosen.lacks(bill))
    return chosen.addressed(bill), chosen.xml(bill)


def credit_note_xml(note: CreditNote, key: str = FACTUR_X.key) -> bytes | None:
    """The credit note in one of `FORMATS`, None when something is missing."""
    try:
        return required_credit_note_xml(note, key)
    except LacksSomething:
        return None


def can_be_credit_note(invoice: Invoice) -> bool:
    """Nothing is missing for the XML of the invoice's credit notes."""
    return not _missing(invoice, Seller(seller_of(invoice)))


def credit_note_bill(note: CreditNote, seller: Seller) -> Bill:
    """The credit note as every format is written from: a line for each tax, and the invoice that it
    corrects."""
    invoice = note.invoice
    billed = bill_of(invoice, seller)
    taxes = {(share.tax.category, share.tax.rate_bps): share.tax for share in billed.shares}
    shares = tuple(
        TaxShare(
            taxes.get((line.category, line.rate_bps), billed.shares[0].tax),
            line.net_cents,
            line.tax_cents,
        )
        for line in note.lines.all()
    )
    return replace(
        billed,
        kind=CREDIT_NOTE,
        number=credit_note_number(note),
        issued=note.issued_on,
        due=None,
        notes=tuple(
            Note(text) for text in ("" if note.is_live else _TEST_NOTE, plain(note.memo)) if text
        ),
        preceding=Preceding(billed.number, billed.issued, _ksef_number(invoice, seller)),
        lines=tuple(
            BillLine(
                name=f"Credit for {billed.number}",
                quantity=1,
                unit_price=text_from_cents(share.basis_cents),
                net_cents=share.basis_cents,
                tax=share.tax,
            )
            for share in shares
        ),
        allowances=(),
        shares=shares,
        prepaid_cents=0,
        terms=f"Credit for invoice {billed.number}.",
    )


def _ksef_number(invoice: Invoice, seller: Seller) -> str:
    """The number that Poland's system gave the invoice, empty without one."""
    if not FA3.is_for(seller.country):
        return ""
    return (
        invoice.deliveries.filter(credit_note=None)
        .exclude(number="")
        .values_list("number", flat=True)
        .first()
        or ""
    )


def formats_of(invoice: Invoice, now: datetime) -> list[tuple[EInvoiceFormat, str]]:
    """Every format that the seller may use, with what the invoice, or a draft, lacks for it, in
    English."""
    seller = Seller(seller_of(invoice))
    missing = _missing(invoice, seller) if invoice.status == DRAFT else refusal(invoice, seller)
    usable = [item for item in FORMATS.values() if item.is_for(seller.country)]
    if missing:
        return [(item, missing) for item in usable]
    bill = bill_of(invoice, seller, now)
    return [(item, item.lacks(bill)) for item in usable]


def further_formats(invoice: Invoice, seller: Seller) -> list[EInvoiceFormat]:
    """The formats besides Factur-X in which the finalized invoice lacks nothing."""
    if refusal(invoice, seller):
        return []
    bill = bill_of(invoice, seller)
    return [item for item in FORMATS.values() if item != FACTUR_X and not item.lacks(bill)]


def _is_outside(invoice: Invoice, taxes: Sequence[InvoiceTax], seller: Seller) -> bool:
    """Nothing is said of VAT, by a seller whom nobody knows as one who charges it: no rate, or the
    invoice's own of zero, which has no category."""
    if seller.is_known_to_tax:
        return False
    return not taxes or (invoice.tax_rate_bps == 0 and {tax.category for tax in taxes} == {"Z"})


def issued_on(invoice: Invoice) -> date | None:
    """The day of a finalized invoice, in its zone."""
    if invoice.issued_on is not None or invoice.finalized_at is None:
        return invoice.issued_on
    return invoice.finalized_at.astimezone(invoice.zone).date()


def bill_of(invoice: Invoice, seller: Seller, now: datetime | None = None) -> Bill:
    """The invoice as every format is written from; a draft as if it were finalized `now`. Nothing
    is missing; see `refusal`."""
    issued = invoice.finalized_at or now
    if issued is None:
        raise RuntimeError(f"invoice {invoice.pk} is a draft")
    shares = _shares(invoice, seller)
    issued_on = invoice.issued_on or issued.astimezone(invoice.zone).date()
    billed = buyer_of(invoice)
    buyer = _buyer(billed)
    return Bill(
        kind=INVOICE,
        number=plain(formatted_number(invoice)) or "draft",
        issued=issued_on,
        due=invoice.due_day,
        supplied_from=invoice.supplied_from or issued_on,
        supplied_until=invoice.supplied_until or issued_on,
        currency=invoice.currency,
        notes=_notes(invoice),
        order_number=plain(invoice.po_number),
        buyer_reference=plain(invoice.buyer_reference or billed.reference),
        preceding=None,
        seller=_seller(seller),
        buyer=buyer,
        deliver_to=buyer.address if any(share.tax.category == "K" for share in shares) else None,
        lines=tuple(_line(line, shares) for line in invoice.lines.all()),
        allowances=_allowances(invoice, shares),
        shares=shares,
        prepaid_cents=min(invoice.amount_paid_cents, invoice.total_cents),
        terms=_TERMS.get(invoice.status, "").format(url=hosted_url(invoice)),
        payment_url=hosted_url(invoice) or "",
        is_taxed_abroad=invoice.tax_case == TaxCase.EU_CONSUMER,
    )


def _shares(invoice: Invoice, seller: Seller) -> tuple[TaxShare, ...]:
    """Charges of an invoice by category and rate."""
    rows = invoice.charged_taxes
    if _is_outside(invoice, rows, seller):
        tax = Tax(NOT_TAXED, 0, _NOT_TAXED_REASON, _NOT_TAXED_CODE)
        return (TaxShare(tax, invoice.subtotal_cents - invoice.discount_cents, 0),)
    return tuple(
        TaxShare(
            Tax(
                row.category,
                row.rate_bps,
                *explained(row.category, plain(row.reason), row.reason_code),
            ),
            row.base_cents,
            row.tax_cents,
        )
        for row in rows
    )


def _notes(invoice: Invoice) -> tuple[Note, ...]:
    texts = (
        "" if invoice.is_live else _TEST_NOTE,
        invoice.description,
        invoice.notes,
        invoice.footer,
    )
    return tuple(Note(text) for text in map(plain, texts) if text)


def _line(line: InvoiceLine, shares: tuple[TaxShare, ...]) -> BillLine:
    key = line.tax_category, line.tax_rate_bps
    taxes = (share.tax for share in shares)
    tax = next((tax for tax in taxes if (tax.category, tax.rate_bps) == key), shares[0].tax)
    return BillLine(
        name=plain(line.description) or "Item",
        quantity=line.quantity,
        unit_price=_unit_price(line),
        net_cents=line.net_cents,
        tax=tax,
    )


def _unit_price(line: InvoiceLine) -> str:
    """Without the tax that it may hold, with places enough to multiply to the line's amount."""
    if not line.tax_included_cents:
        return text_from_cents(line.unit_amount_cents)
    scale = 10**_PRICE_PLACES // CENTS
    return decimal_from_atomic(-(-line.net_cents * scale // line.quantity), _PRICE_PLACES)


def _allowances(invoice: Invoice, shares: tuple[TaxShare, ...]) -> tuple[Allowance, ...]:
    rows = invoice.charged_taxes
    parts = [row.discount_cents for row in rows] if rows else [invoice.discount_cents]
    return tuple(
        _allowance(invoice, share, cents)
        for share, cents in zip(shares, parts, strict=True)
        if cents
    )


def _allowance(invoice: Invoice, share: TaxShare, cents: int) -> Allowance:
    """Its percentage only where that makes the amount, but for rounding."""
    base_cents = share.basis_cents + cents
    percent = invoice.discount_value or 0
    is_percent = invoice.discount_type == Invoice.DiscountType.PERCENT
    if is_percent and abs(base_cents * percent - cents * 100) <= _ROUNDING_CENTS * 100:
        return Allowance(cents, share.tax, str(percent), base_cents)
    return Allowance(cents, share.tax)


def _seller(seller: Seller) -> Party:
    return Party(
        name=seller.name,
        address=Address(
            country=seller.country or "",
            lines=tuple(filter(None, (plain(seller.street),))),
            postal_code=plain(seller.postal_code),
            city=plain(seller.city),
        ),
        email=seller.email,
        phone=seller.phone,
        legal_id=legal_identifier(seller.register_number, seller.country),
        vat_number=seller.vat_number,
        tax_number=seller.tax_number,
    )


def _buyer(buyer: Buyer) -> Party:
    address = buyer.postal_address
    return Party(
        name=plain(buyer.name) or buyer.email,
        address=Address(
            country=buyer.country,
            lines=tuple(filter(None, (_first(address, names) for names in _STREETS))),
            postal_code=_first(address, _CODES),
            city=_first(address, _TOWNS),
            region=_first(address, _REGIONS),
        ),
        email=buyer.email,
        vat_number=_vat_number(buyer.vat_number, buyer.country),
        endpoint=_endpoint(buyer.electronic_address),
    )


def _endpoint(written: str) -> Identifier | None:
    """ "0208:0123456789" is a number of list 0208."""
    scheme, _, value = written.partition(":")
    return Identifier(value, scheme) if value else None


def _first(address: Mapping[str, Any], names: Iterable[str]) -> str:
    values = (address.get(name) for name in names)
    texts = [
        plain(str(value))
        for value in values
        if isinstance(value, (str, int)) and not isinstance(value, bool)
    ]
    return next((text for text in texts if text), "")
