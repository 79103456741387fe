"""A bill in the syntax of UBL 2.1: Peppol BIS Billing 3, XRechnung. A credit note is a document of
its own there."""

from xml.etree import ElementTree as Xml

from apps.billing.e_invoices.bills import (
    Address,
    Allowance,
    Bill,
    BillLine,
    Note,
    Party,
    Tax,
)
from apps.billing.e_invoices.trees import Tree
from apps.core.money import percentage_from_bps, text_from_cents

_SPACE = "urn:oasis:names:specification:ubl:schema:xsd:"
_SPACES = {
    "cac": f"{_SPACE}CommonAggregateComponents-2",
    "cbc": f"{_SPACE}CommonBasicComponents-2",
    "inv": f"{_SPACE}Invoice-2",
    "cn": f"{_SPACE}CreditNote-2",
}
_PIECE = "C62"
_ONLINE_PAYMENT = "68"

for _prefix, _uri in _SPACES.items():
    Xml.register_namespace(_prefix, _uri)


def ubl(bill: Bill, guideline: str, process: str) -> bytes:
    kind = "CreditNote" if bill.is_credit_note else "Invoice"
    root = Tree.begun(f"{'cn' if bill.is_credit_note else 'inv'}:{kind}", _SPACES)
    root.put("cbc:CustomizationID", guideline)
    root.put("cbc:ProfileID", process)
    root.put("cbc:ID", bill.number)
    root.put("cbc:IssueDate", bill.issued)
    if bill.due is not None and not bill.is_credit_note:
        root.put("cbc:DueDate", bill.due)
    root.put(f"cbc:{kind}TypeCode", bill.kind)
    # One note: Peppol takes no second one.
    root.put_text("cbc:Note", "\n".join(map(_note, bill.notes)))
    root.put("cbc:DocumentCurrencyCode", bill.currency)
    root.put_text("cbc:BuyerReference", bill.buyer_reference)
    if bill.has_period:
        period = root.put("cac:InvoicePeriod")
        period.put("cbc:StartDate", bill.supplied_from)
        period.put("cbc:EndDate", bill.supplied_until)
    if bill.order_number:
        root.put("cac:OrderReference/cbc:ID", bill.order_number)
    if bill.preceding is not None:
        before = root.put("cac:BillingReference/cac:InvoiceDocumentReference")
        before.put("cbc:ID", bill.preceding.number)
        before.put("cbc:IssueDate", bill.preceding.issued)
    _put_party(root.put("cac:AccountingSupplierParty/cac:Party"), bill.seller)
    _put_party(root.put("cac:AccountingCustomerParty/cac:Party"), bill.buyer)
    delivery = root.put("cac:Delivery")
    delivery.put("cbc:ActualDeliveryDate", bill.supplied_until)
    if bill.deliver_to is not None:
        _put_address(delivery.put("cac:DeliveryLocation/cac:Address"), bill.deliver_to)
    if bill.payment_url:
        means = root.put("cac:PaymentMeans")
        means.put("cbc:PaymentMeansCode", _ONLINE_PAYMENT, name=bill.payment_url)
    if bill.terms:
        root.put("cac:PaymentTerms/cbc:Note", bill.terms)
    for allowance in bill.allowances:
        _put_allowance(root.put("cac:AllowanceCharge"), allowance, bill.currency)
    _put_taxes(root.put("cac:TaxTotal"), bill)
    _put_sums(root.put("cac:LegalMonetaryTotal"), bill)
    for number, line in enumerate(bill.lines, start=1):
        _put_line(root.put(f"cac:{kind}Line"), number, line, bill)
    return root.written()


def _note(note: Note) -> str:
    return f"#{note.code}#{note.text}" if note.code else note.text


def _put_amount(at: Tree, name: str, cents: int, currency: str) -> None:
    at.put(f"cbc:{name}", text_from_cents(cents), currencyID=currency)


def _put_party(at: Tree, party: Party) -> None:
    if party.endpoint is not None:
        at.put("cbc:EndpointID", party.endpoint.value, schemeID=party.endpoint.scheme)
    at.put("cac:PartyName/cbc:Name", party.name)
    _put_address(at.put("cac:PostalAddress"), party.address)
    for number, scheme in ((party.vat_number, "VAT"), (party.tax_number, "TAX")):
        if number:
            registered = at.put("cac:PartyTaxScheme")
            registered.put("cbc:CompanyID", number)
            registered.put("cac:TaxScheme/cbc:ID", scheme)
    legal = at.put("cac:PartyLegalEntity")
    legal.put("cbc:RegistrationName", party.name)
    if party.legal_id is not None:
        listed = {"schemeID": party.legal_id.scheme} if party.legal_id.scheme else {}
        legal.put("cbc:CompanyID", party.legal_id.value, **listed)
    if party.phone:
        contact = at.put("cac:Contact")
        contact.put("cbc:Name", party.name)
        contact.put("cbc:Telephone", party.phone)
        contact.put_text("cbc:ElectronicMail", party.email)


def _put_address(at: Tree, address: Address) -> None:
    lines = [*address.lines, "", "", ""]
    at.put_text("cbc:StreetName", lines[0])
    at.put_text("cbc:AdditionalStreetName", lines[1])
    at.put_text("cbc:CityName", address.city)
    at.put_text("cbc:PostalZone", address.postal_code)
    at.put_text("cbc:CountrySubentity", address.region)
    if lines[2]:
        at.put("cac:AddressLine/cbc:Line", lines[2])
    at.put("cac:Country/cbc:IdentificationCode", address.country)


def _put_tax(at: Tree, tax: Tax, *, is_explained: bool = False) -> None:
    at.put("cbc:ID", tax.category)
    if tax.has_rate:
        at.put("cbc:Percent", percentage_from_bps(tax.rate_bps))
    if is_explained:
        at.put_text("cbc:TaxExemptionReasonCode", tax.reason_code)
        at.put_text("cbc:TaxExemptionReason", tax.reason)
    at.put("cac:TaxScheme/cbc:ID", "VAT")


def _put_allowance(at: Tree, allowance: Allowance, currency: str) -> None:
    at.put("cbc:ChargeIndicator", "false")
    at.put("cbc:AllowanceChargeReason", "Discount")
    if allowance.percent:
        at.put("cbc:MultiplierFactorNumeric", allowance.percent)
    _put_amount(at, "Amount", allowance.cents, currency)
    if allowance.percent:
        _put_amount(at, "BaseAmount", allowance.base_cents, currency)
    _put_tax(at.put("cac:TaxCategory"), allowance.tax)


def _put_taxes(at: Tree, bill: Bill) -> None:
    _put_amount(at, "TaxAmount", bill.tax_cents, bill.currency)
    for share in bill.shares:
        part = at.put("cac:TaxSubtotal")
        _put_amount(part, "TaxableAmount", share.basis_cents, bill.currency)
        _put_amount(part, "TaxAmount", share.tax_cents, bill.currency)
        _put_tax(part.put("cac:TaxCategory"), share.tax, is_explained=True)


def _put_sums(at: Tree, bill: Bill) -> None:
    _put_amount(at, "LineExtensionAmount", bill.lines_cents, bill.currency)
    _put_amount(at, "TaxExclusiveAmount", bill.basis_cents, bill.currency)
    _put_amount(at, "TaxInclusiveAmount", bill.total_cents, bill.currency)
    if bill.allowances:
        _put_amount(at, "AllowanceTotalAmount", bill.allowance_cents, bill.currency)
    if bill.prepaid_cents:
        _put_amount(at, "PrepaidAmount", bill.prepaid_cents, bill.currency)
    _put_amount(at, "PayableAmount", bill.due_cents, bill.currency)


def _put_line(at: Tree, number: int, line: BillLine, bill: Bill) -> None:
    at.put("cbc:ID", number)
    quantity = "CreditedQuantity" if bill.is_credit_note else "InvoicedQuantity"
    at.put(f"cbc:{quantity}", line.quantity, unitCode=_PIECE)
    _put_amount(at, "LineExtensionAmount", line.net_cents, bill.currency)
    item = at.put("cac:Item")
    item.put("cbc:Name", line.name)
    _put_tax(item.put("cac:ClassifiedTaxCategory"), line.tax)
    at.put("cac:Price/cbc:PriceAmount", line.unit_price, currencyID=bill.currency)
