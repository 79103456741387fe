"""An invoice as data for accounting software: Cross Industry Invoice, profile EN 16931 (Factur-X,
ZUGFeRD).

Every figure is the one that the document shows. An invoice without what the standard asks for has
none; see `refusal`.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as Xml

from apps.billing.documents.invoices import formatted_number, hosted_url
from apps.billing.invoices.seller_buyer import Biller, seller_of
from apps.billing.models import Customer, Invoice
from apps.billing.states import OPEN, PAID, UNCOLLECTIBLE, VOID
from apps.core.countries import country_code
from apps.core.money import percentage_from_bps, text_from_cents

FILE_NAME = "factur-x.xml"
PROFILE = "EN 16931"
_GUIDELINE = "urn:cen.eu:en16931:2017"
_SPACES = {
    "rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
}
# Codes of the standard's lists.
_COMMERCIAL_INVOICE = "380"
_DAY = "102"
_PIECE = "C62"
_ONLINE_PAYMENT = "68"
_E_MAIL = "EM"
_VAT_NUMBER = "VA"
_TAX_NUMBER = "FC"
STANDARD_RATE = "S"
ZERO_RATE = "Z"
NOT_TAXED = "O"
_NOT_TAXED_CODE = "VATEX-EU-O"
_NOT_TAXED_REASON = "Not subject to VAT"
_TERMS = {OPEN: "Pay online: {url}", PAID: "Paid.", UNCOLLECTIBLE: "Closed, not paid."}
_TAX_RATE_MISSING = (
    "It has no tax rate. Set one before you finalize an invoice; enter 0 if no tax is due."
)
_TAX_NUMBER_MISSING = (
    "It charges tax, but your VAT or tax number is missing: it comes with the verification of your"
    " business."
)
_TEST_NOTE = "Test invoice: no real money was charged or moved."
# Where the prefix of a country's VAT numbers isn't its code.
_VAT_PREFIXES = {"GR": "EL"}
_VAT_FORM = re.compile(r"[A-Z]{2}[0-9A-Z+*]{2,13}", re.ASCII)
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
_STREETS = (
    ("line1", "street", "street1", "address", "address1"),
    ("line2", "street2", "address2"),
    ("line3",),
)
_CODES = ("postal_code", "postcode", "zip")
_TOWNS = ("city", "town")
_REGIONS = ("state", "region", "province")

for _prefix, _space in _SPACES.items():
    Xml.register_namespace(_prefix, _space)


class Seller:
    """Who bills, as the standard has it; see `seller_buyer.seller_of`."""

    def __init__(self, biller: Biller) -> None:
        self.name = _plain(biller.name)
        self.email = biller.email
        self.street = biller.street
        self.postal_code = biller.postal_code
        self.city = biller.city
        self.country = country_code(biller.country)
        self.register_number = _plain(biller.registration_number)
        written = _plain(biller.tax_id)
        self.vat_number = _vat_number(written, self.country)
        self.tax_number = "" if self.vat_number else written

    @property
    def is_known_to_tax(self) -> bool:
        return bool(self.vat_number or self.tax_number)


def _vat_number(written: str, country: str | None) -> str:
    """The number with its country in front and nothing between, empty when it isn't one."""
    packed = re.sub(r"[\s.\-/]", "", written).upper()
    prefix = _VAT_PREFIXES.get(country or "", country or "")
    return packed if prefix and packed.startswith(prefix) and _VAT_FORM.fullmatch(packed) else ""


def refusal(invoice: Invoice, seller: Seller | None = None) -> str:
    """What is missing for an e-invoice, in words for the merchant; empty when nothing is."""
    if invoice.number is None or invoice.status == VOID:
        return "Only invoices that were finalized and not canceled are e-invoices."
    return _missing(invoice, seller or Seller(seller_of(invoice)))


def missing_of_verified(invoice: Invoice) -> str:
    """What a draft lacks for being an e-invoice one day; empty for those who can't make any."""
    seller = Seller(seller_of(invoice))
    return _missing(invoice, seller) if seller.country else ""


def _missing(invoice: Invoice, seller: Seller) -> str:
    if not seller.country or not (seller.vat_number or seller.register_number):
        return (
            "Your country and VAT or registration number are missing. They’re added with your"
            " business verification."
        )
    if country_code((invoice.customer.address or {}).get("country")) is None:
        return "The country in the customer’s address is missing."
    if not invoice.lines.all():
        return "The invoice has no lines."
    if _category(invoice, seller) is None:
        return _TAX_NUMBER_MISSING if invoice.tax_rate_bps else _TAX_RATE_MISSING
    return ""


def e_invoice_xml(invoice: Invoice) -> bytes | None:
    """The XML, None when something is missing. What is paid counts until now, as in the document it
    goes with."""
    seller = Seller(seller_of(invoice))
    category = _category(invoice, seller)
    if category is None or refusal(invoice, seller):
        return None
    root = Xml.Element(f"{{{_SPACES['rsm']}}}CrossIndustryInvoice")
    _put(
        _put(
            _put(root, "rsm:ExchangedDocumentContext"),
            "ram:GuidelineSpecifiedDocumentContextParameter",
        ),
        "ram:ID",
        _GUIDELINE,
    )
    _put_document(_put(root, "rsm:ExchangedDocument"), invoice)
    trade = _put(root, "rsm:SupplyChainTradeTransaction")
    for n, line in enumerate(invoice.lines.all(), start=1):
        _put_line(
            _put(trade, "ram:IncludedSupplyChainTradeLineItem"),
            n,
            line,
            category,
            invoice.tax_rate_bps or 0,
        )
    agreement = _put(trade, "ram:ApplicableHeaderTradeAgreement")
    _put_seller(_put(agreement, "ram:SellerTradeParty"), seller)
    _put_buyer(_put(agreement, "ram:BuyerTradeParty"), invoice.customer)
    if _plain(invoice.po_number):
        _put(
            _put(agreement, "ram:BuyerOrderReferencedDocument"),
            "ram:IssuerAssignedID",
            invoice.po_number,
        )
    _put(trade, "ram:ApplicableHeaderTradeDelivery")
    _put_settlement(_put(trade, "ram:ApplicableHeaderTradeSettlement"), invoice, category)
    Xml.indent(root)
    xml: bytes = Xml.tostring(root, encoding="UTF-8", xml_declaration=True)
    return xml


def _category(invoice: Invoice, seller: Seller) -> str | None:
    """How it is taxed. Without a rate nothing is said, unless nobody knows the seller as one who
    charges tax."""
    if invoice.tax_rate_bps:
        return STANDARD_RATE if seller.is_known_to_tax else None
    if not seller.is_known_to_tax:
        return NOT_TAXED
    return ZERO_RATE if invoice.tax_rate_bps == 0 else None


def _put_document(at: Xml.Element, invoice: Invoice) -> None:
    _put(at, "ram:ID", formatted_number(invoice))
    _put(at, "ram:TypeCode", _COMMERCIAL_INVOICE)
    _put_day(at, "ram:IssueDateTime", invoice.finalized_at)
    notes = (
        "" if invoice.is_live else _TEST_NOTE,
        invoice.description,
        invoice.notes,
        invoice.footer,
    )
    for note in notes:
        if _plain(note):
            _put(_put(at, "ram:IncludedNote"), "ram:Content", note)


def _put_line(at: Xml.Element, number: int, line: Any, category: str, rate_bps: int) -> None:
    _put(_put(at, "ram:AssociatedDocumentLineDocument"), "ram:LineID", number)
    _put(_put(at, "ram:SpecifiedTradeProduct"), "ram:Name", _plain(line.description) or "Item")
    price = _put(_put(at, "ram:SpecifiedLineTradeAgreement"), "ram:NetPriceProductTradePrice")
    _put(price, "ram:ChargeAmount", text_from_cents(line.unit_amount_cents))
    _put(
        _put(at, "ram:SpecifiedLineTradeDelivery"),
        "ram:BilledQuantity",
        line.quantity,
        unitCode=_PIECE,
    )
    settlement = _put(at, "ram:SpecifiedLineTradeSettlement")
    _put_tax(_put(settlement, "ram:ApplicableTradeTax"), category, rate_bps)
    sums = _put(settlement, "ram:SpecifiedTradeSettlementLineMonetarySummation")
    _put(sums, "ram:LineTotalAmount", text_from_cents(line.amount_cents))


def _put_tax(at: Xml.Element, category: str, rate_bps: int) -> None:
    _put(at, "ram:TypeCode", "VAT")
    _put(at, "ram:CategoryCode", category)
    if category != NOT_TAXED:
        _put(at, "ram:RateApplicablePercent", percentage_from_bps(rate_bps))


def _put_seller(at: Xml.Element, seller: Seller) -> None:
    _put(at, "ram:Name", seller.name)
    if seller.register_number:
        _put(_put(at, "ram:SpecifiedLegalOrganization"), "ram:ID", seller.register_number)
    address = {"street": seller.street, "postal_code": seller.postal_code, "city": seller.city}
    _put_address(_put(at, "ram:PostalTradeAddress"), address | {"country": seller.country})
    if seller.email:
        _put(_put(at, "ram:URIUniversalCommunication"), "ram:URIID", seller.email, schemeID=_E_MAIL)
    for number, scheme in ((seller.vat_number, _VAT_NUMBER), (seller.tax_number, _TAX_NUMBER)):
        if number:
            _put(_put(at, "ram:SpecifiedTaxRegistration"), "ram:ID", number, schemeID=scheme)


def _put_buyer(at: Xml.Element, customer: Customer) -> None:
    _put(at, "ram:Name", _plain(customer.name) or customer.email)
    _put_address(_put(at, "ram:PostalTradeAddress"), customer.address or {})
    _put(_put(at, "ram:URIUniversalCommunication"), "ram:URIID", customer.email, schemeID=_E_MAIL)


def _put_address(at: Xml.Element, address: Mapping[str, Any]) -> None:
    street = [_first(address, names) for names in _STREETS]
    parts = {
        "ram:PostcodeCode": _first(address, _CODES),
        **{
            f"ram:Line{name}": text
            for name, text in zip(("One", "Two", "Three"), street, strict=True)
        },
        "ram:CityName": _first(address, _TOWNS),
        "ram:CountryID": country_code(address.get("country")),
        "ram:CountrySubDivisionName": _first(address, _REGIONS),
    }
    for name, text in parts.items():
        if text:
            _put(at, name, text)


def _first(address: Mapping[str, Any], names: Iterable[str]) -> str:
    values = (address.get(name) for name in names)
    texts = [
        _plain(str(value))
        for value in values
        if isinstance(value, (str, int)) and not isinstance(value, bool)
    ]
    return next((text for text in texts if text), "")


def _put_settlement(at: Xml.Element, invoice: Invoice, category: str) -> None:
    rate_bps = invoice.tax_rate_bps or 0
    taxed_cents = invoice.subtotal_cents - invoice.discount_cents
    _put(at, "ram:InvoiceCurrencyCode", invoice.currency)
    if invoice.status == OPEN:
        means = _put(at, "ram:SpecifiedTradeSettlementPaymentMeans")
        _put(means, "ram:TypeCode", _ONLINE_PAYMENT)
        _put(means, "ram:Information", hosted_url(invoice))
    tax = _put(at, "ram:ApplicableTradeTax")
    _put(tax, "ram:CalculatedAmount", text_from_cents(invoice.tax_cents))
    _put(tax, "ram:TypeCode", "VAT")
    if category == NOT_TAXED:
        _put(tax, "ram:ExemptionReason", _NOT_TAXED_REASON)
    _put(tax, "ram:BasisAmount", text_from_cents(taxed_cents))
    _put(tax, "ram:CategoryCode", category)
    if category == NOT_TAXED:
        _put(tax, "ram:ExemptionReasonCode", _NOT_TAXED_CODE)
    else:
        _put(tax, "ram:RateApplicablePercent", percentage_from_bps(rate_bps))
    if invoice.discount_cents:
        _put_discount(_put(at, "ram:SpecifiedTradeAllowanceCharge"), invoice, category, rate_bps)
    terms = _put(at, "ram:SpecifiedTradePaymentTerms")
    _put(terms, "ram:Description", _TERMS[invoice.status].format(url=hosted_url(invoice)))
    if invoice.due_at is not None:
        _put_day(terms, "ram:DueDateDateTime", invoice.due_at)
    _put_sums(_put(at, "ram:SpecifiedTradeSettlementHeaderMonetarySummation"), invoice, taxed_cents)


def _put_discount(at: Xml.Element, invoice: Invoice, category: str, rate_bps: int) -> None:
    _put(_put(at, "ram:ChargeIndicator"), "udt:Indicator", "false")
    if invoice.discount_type == Invoice.DiscountType.PERCENT:
        _put(at, "ram:CalculationPercent", invoice.discount_value)
        _put(at, "ram:BasisAmount", text_from_cents(invoice.subtotal_cents))
    _put(at, "ram:ActualAmount", text_from_cents(invoice.discount_cents))
    _put(at, "ram:Reason", "Discount")
    _put_tax(_put(at, "ram:CategoryTradeTax"), category, rate_bps)


def _put_sums(at: Xml.Element, invoice: Invoice, taxed_cents: int) -> None:
    paid_cents = min(invoice.amount_paid_cents, invoice.total_cents)
    _put(at, "ram:LineTotalAmount", text_from_cents(invoice.subtotal_cents))
    if invoice.discount_cents:
        _put(at, "ram:AllowanceTotalAmount", text_from_cents(invoice.discount_cents))
    _put(at, "ram:TaxBasisTotalAmount", text_from_cents(taxed_cents))
    _put(at, "ram:TaxTotalAmount", text_from_cents(invoice.tax_cents), currencyID=invoice.currency)
    _put(at, "ram:GrandTotalAmount", text_from_cents(invoice.total_cents))
    if paid_cents:
        _put(at, "ram:TotalPrepaidAmount", text_from_cents(paid_cents))
    _put(at, "ram:DuePayableAmount", text_from_cents(invoice.total_cents - paid_cents))


def _put_day(at: Xml.Element, name: str, moment: datetime | None) -> None:
    if moment is not None:
        _put(_put(at, name), "udt:DateTimeString", f"{moment.astimezone(UTC):%Y%m%d}", format=_DAY)


def _put(at: Xml.Element, name: str, text: object = None, **attributes: str) -> Xml.Element:
    prefix, _, local = name.partition(":")
    element = Xml.SubElement(at, f"{{{_SPACES[prefix]}}}{local}", attributes)
    if text is not None:
        element.text = _plain(str(text))
    return element


def _plain(text: str | None) -> str:
    """Without what XML can't hold, and without space around it."""
    return _NOT_IN_XML.sub("", text or "").strip()
