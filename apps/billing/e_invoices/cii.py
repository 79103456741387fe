"""A bill in the syntax of UN/CEFACT (Cross Industry Invoice): Factur-X, ZUGFeRD, XRechnung."""

from datetime import date
from xml.etree import ElementTree as Xml

from apps.billing.e_invoices.bills import Address, Allowance, Bill, BillLine, Party, Tax
from apps.billing.e_invoices.trees import Tree
from apps.core.money import percentage_from_bps, text_from_cents

_SPACES = {
    "rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
    "qdt": "urn:un:unece:uncefact:data:standard:QualifiedDataType:100",
}
# Codes of the standard's lists.
_DAY = "102"
_PIECE = "C62"
_ONLINE_PAYMENT = "68"
_VAT_NUMBER = "VA"
_TAX_NUMBER = "FC"

for _prefix, _space in _SPACES.items():
    Xml.register_namespace(_prefix, _space)


def cii(bill: Bill, guideline: str, process: str) -> bytes:
    root = Tree.begun("rsm:CrossIndustryInvoice", _SPACES)
    context = root.put("rsm:ExchangedDocumentContext")
    if process:
        context.put("ram:BusinessProcessSpecifiedDocumentContextParameter/ram:ID", process)
    context.put("ram:GuidelineSpecifiedDocumentContextParameter/ram:ID", guideline)
    document = root.put("rsm:ExchangedDocument")
    document.put("ram:ID", bill.number)
    document.put("ram:TypeCode", bill.kind)
    _put_day(document, "ram:IssueDateTime", bill.issued)
    for note in bill.notes:
        written = document.put("ram:IncludedNote")
        written.put("ram:Content", note.text)
        written.put_text("ram:SubjectCode", note.code)
    trade = root.put("rsm:SupplyChainTradeTransaction")
    for number, line in enumerate(bill.lines, start=1):
        _put_line(trade.put("ram:IncludedSupplyChainTradeLineItem"), number, line)
    _put_agreement(trade.put("ram:ApplicableHeaderTradeAgreement"), bill)
    delivery = trade.put("ram:ApplicableHeaderTradeDelivery")
    if bill.deliver_to is not None:
        _put_address(delivery.put("ram:ShipToTradeParty/ram:PostalTradeAddress"), bill.deliver_to)
    _put_day(
        delivery.put("ram:ActualDeliverySupplyChainEvent"),
        "ram:OccurrenceDateTime",
        bill.supplied_until,
    )
    _put_settlement(trade.put("ram:ApplicableHeaderTradeSettlement"), bill)
    return root.written()


def _put_line(at: Tree, number: int, line: BillLine) -> None:
    at.put("ram:AssociatedDocumentLineDocument/ram:LineID", number)
    at.put("ram:SpecifiedTradeProduct/ram:Name", line.name)
    price = at.put("ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice")
    price.put("ram:ChargeAmount", line.unit_price)
    at.put("ram:SpecifiedLineTradeDelivery/ram:BilledQuantity", line.quantity, unitCode=_PIECE)
    settlement = at.put("ram:SpecifiedLineTradeSettlement")
    _put_tax(settlement.put("ram:ApplicableTradeTax"), line.tax)
    settlement.put(
        "ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount",
        text_from_cents(line.net_cents),
    )


def _put_tax(at: Tree, tax: Tax) -> None:
    at.put("ram:TypeCode", "VAT")
    at.put("ram:CategoryCode", tax.category)
    if tax.has_rate:
        at.put("ram:RateApplicablePercent", percentage_from_bps(tax.rate_bps))


def _put_agreement(at: Tree, bill: Bill) -> None:
    at.put_text("ram:BuyerReference", bill.buyer_reference)
    _put_party(at.put("ram:SellerTradeParty"), bill.seller, has_contact=bool(bill.seller.phone))
    _put_party(at.put("ram:BuyerTradeParty"), bill.buyer, has_contact=False)
    if bill.order_number:
        at.put("ram:BuyerOrderReferencedDocument/ram:IssuerAssignedID", bill.order_number)


def _put_party(at: Tree, party: Party, *, has_contact: bool) -> None:
    at.put("ram:Name", party.name)
    if party.legal_id is not None:
        listed = {"schemeID": party.legal_id.scheme} if party.legal_id.scheme else {}
        at.put("ram:SpecifiedLegalOrganization/ram:ID", party.legal_id.value, **listed)
    if has_contact:
        contact = at.put("ram:DefinedTradeContact")
        contact.put("ram:PersonName", party.name)
        contact.put("ram:TelephoneUniversalCommunication/ram:CompleteNumber", party.phone)
        if party.email:
            contact.put("ram:EmailURIUniversalCommunication/ram:URIID", party.email)
    _put_address(at.put("ram:PostalTradeAddress"), party.address)
    if party.endpoint is not None:
        at.put(
            "ram:URIUniversalCommunication/ram:URIID",
            party.endpoint.value,
            schemeID=party.endpoint.scheme,
        )
    for number, scheme in ((party.vat_number, _VAT_NUMBER), (party.tax_number, _TAX_NUMBER)):
        if number:
            at.put("ram:SpecifiedTaxRegistration/ram:ID", number, schemeID=scheme)


def _put_address(at: Tree, address: Address) -> None:
    at.put_text("ram:PostcodeCode", address.postal_code)
    for name, line in zip(("One", "Two", "Three"), address.lines, strict=False):
        at.put_text(f"ram:Line{name}", line)
    at.put_text("ram:CityName", address.city)
    at.put("ram:CountryID", address.country)
    at.put_text("ram:CountrySubDivisionName", address.region)


def _put_settlement(at: Tree, bill: Bill) -> None:
    at.put("ram:InvoiceCurrencyCode", bill.currency)
    if bill.payment_url:
        means = at.put("ram:SpecifiedTradeSettlementPaymentMeans")
        means.put("ram:TypeCode", _ONLINE_PAYMENT)
        means.put("ram:Information", bill.payment_url)
    for share in bill.shares:
        tax = at.put("ram:ApplicableTradeTax")
        tax.put("ram:CalculatedAmount", text_from_cents(share.tax_cents))
        tax.put("ram:TypeCode", "VAT")
        tax.put_text("ram:ExemptionReason", share.tax.reason)
        tax.put("ram:BasisAmount", text_from_cents(share.basis_cents))
        tax.put("ram:CategoryCode", share.tax.category)
        tax.put_text("ram:ExemptionReasonCode", share.tax.reason_code)
        if share.tax.has_rate:
            tax.put("ram:RateApplicablePercent", percentage_from_bps(share.tax.rate_bps))
    if bill.has_period:
        period = at.put("ram:BillingSpecifiedPeriod")
        _put_day(period, "ram:StartDateTime", bill.supplied_from)
        _put_day(period, "ram:EndDateTime", bill.supplied_until)
    for allowance in bill.allowances:
        _put_allowance(at.put("ram:SpecifiedTradeAllowanceCharge"), allowance)
    if bill.terms or bill.due is not None:
        terms = at.put("ram:SpecifiedTradePaymentTerms")
        terms.put_text("ram:Description", bill.terms)
        if bill.due is not None:
            _put_day(terms, "ram:DueDateDateTime", bill.due)
    _put_sums(at.put("ram:SpecifiedTradeSettlementHeaderMonetarySummation"), bill)
    if bill.preceding is not None:
        before = at.put("ram:InvoiceReferencedDocument")
        before.put("ram:IssuerAssignedID", bill.preceding.number)
        day = before.put("ram:FormattedIssueDateTime/qdt:DateTimeString", format=_DAY)
        day.element.text = f"{bill.preceding.issued:%Y%m%d}"


def _put_allowance(at: Tree, allowance: Allowance) -> None:
    at.put("ram:ChargeIndicator/udt:Indicator", "false")
    if allowance.percent:
        at.put("ram:CalculationPercent", allowance.percent)
        at.put("ram:BasisAmount", text_from_cents(allowance.base_cents))
    at.put("ram:ActualAmount", text_from_cents(allowance.cents))
    at.put("ram:Reason", "Discount")
    _put_tax(at.put("ram:CategoryTradeTax"), allowance.tax)


def _put_sums(at: Tree, bill: Bill) -> None:
    at.put("ram:LineTotalAmount", text_from_cents(bill.lines_cents))
    if bill.allowances:
        at.put("ram:AllowanceTotalAmount", text_from_cents(bill.allowance_cents))
    at.put("ram:TaxBasisTotalAmount", text_from_cents(bill.basis_cents))
    at.put("ram:TaxTotalAmount", text_from_cents(bill.tax_cents), currencyID=bill.currency)
    at.put("ram:GrandTotalAmount", text_from_cents(bill.total_cents))
    if bill.prepaid_cents:
        at.put("ram:TotalPrepaidAmount", text_from_cents(bill.prepaid_cents))
    at.put("ram:DuePayableAmount", text_from_cents(bill.due_cents))


def _put_day(at: Tree, name: str, day: date) -> None:
    at.put(f"{name}/udt:DateTimeString", f"{day:%Y%m%d}", format=_DAY)
