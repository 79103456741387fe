"""Invoices as every interface and their events show them, and as their customers see them."""

from datetime import date
from typing import Annotated

from django.conf import settings
from msgspec import Meta, convert
from msgspec.structs import asdict

from apps.billing.documents.customers import CustomerSummary, party
from apps.billing.e_invoices.formats import EInvoiceFormat
from apps.billing.models import Invoice, InvoiceLine, InvoiceParts, InvoiceTax, TaxCategory
from apps.billing.models.tax import TaxCase
from apps.billing.numbers import formatted_number
from apps.core.clock import iso
from apps.core.messages.documents import Document, FreeForm, Id, Time

TaxCategoryName = Annotated[str, Meta(extra_json_schema={"enum": TaxCategory.values})]
TaxCaseName = Annotated[str, Meta(extra_json_schema={"enum": [case.value for case in TaxCase]})]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"})]
InvoiceStatus = Annotated[str, Meta(extra_json_schema={"enum": Invoice.Status.values})]


class InvoiceLineDocument(Document, frozen=True, kw_only=True):
    id: Id
    description: str
    quantity: int
    unit_amount_cents: int
    amount_cents: int
    net_cents: int
    tax_rate_id: Id | None
    tax_category: TaxCategoryName | None
    tax_rate_bps: int | None
    position: int


class InvoiceTaxDocument(Document, frozen=True, kw_only=True):
    """Charge at one rate of one category: its base is the net of those lines less their part of the
    discount."""

    category: TaxCategoryName
    rate_bps: int
    name: str
    inclusive: bool
    discount_cents: int
    base_cents: int
    tax_cents: int
    reason: str | None
    reason_code: str | None


class InvoiceDocument(Document, frozen=True, kw_only=True):
    id: Id
    status: InvoiceStatus
    number: int | None
    formatted_number: str | None
    custom_number: str | None
    po_number: str | None
    buyer_reference: str | None
    public_token: str | None
    hosted_url: str | None
    x402_url: str | None
    customer_id: Id
    customer: CustomerSummary
    subscription_id: Id | None
    period_key: str | None
    currency: str
    subtotal_cents: int
    discount_cents: int
    tax_cents: int
    total_cents: int
    amount_paid_cents: int
    credit_applied_cents: int
    refunded_cents: int
    discount_type: str | None
    discount_value: int | None
    tax_rate_bps: int | None
    tax_rate_id: Id | None
    tax_case: TaxCaseName | None
    taxes: list[InvoiceTaxDocument]
    issued_on: Day | None
    supplied_from: Day | None
    supplied_until: Day | None
    due_on: Day | None
    due_at: Time | None
    description: str | None
    notes: str | None
    footer: str | None
    metadata: FreeForm
    needs_attention: str | None
    line_items: list[InvoiceLineDocument]
    livemode: bool
    finalized_at: Time | None
    paid_at: Time | None
    voided_at: Time | None
    created_at: Time
    updated_at: Time


class EInvoiceFormatDocument(Document, frozen=True, kw_only=True):
    """`missing` says what the invoice lacks for the format, null when nothing."""

    format: str
    name: str
    missing: str | None


class HostedInvoiceCustomer(Document, frozen=True, kw_only=True):
    name: str | None
    email: str


class HostedInvoiceLine(Document, frozen=True, kw_only=True):
    description: str
    quantity: int
    unit_amount_cents: int
    amount_cents: int
    position: int


class HostedInvoice(Document, frozen=True, kw_only=True):
    """An invoice as the customer may see it; a view adds `payment`. Never ids of the store's
    records, nor metadata."""

    public_token: str
    number: int | None
    formatted_number: str | None
    po_number: str | None
    status: InvoiceStatus
    currency: str
    subtotal_cents: int
    discount_cents: int
    tax_cents: int
    total_cents: int
    amount_paid_cents: int
    credit_applied_cents: int
    due_at: Time | None
    description: str | None
    notes: str | None
    footer: str | None
    merchant_name: str
    customer: HostedInvoiceCustomer
    line_items: list[HostedInvoiceLine]
    taxes: list[InvoiceTaxDocument]
    issued_on: Day | None
    supplied_from: Day | None
    supplied_until: Day | None
    due_on: Day | None
    livemode: bool


def hosted_url(invoice: Invoice) -> str | None:
    """The page where the customer pays."""
    return f"{settings.PUBLIC_URL}/invoice/{invoice.public_token}" if invoice.public_token else None


def x402_url(invoice: Invoice) -> str | None:
    """Where an agent pays it with a signature (x402)."""
    return (
        f"{settings.PUBLIC_URL}/invoice/{invoice.public_token}/x402"
        if invoice.public_token
        else None
    )


def invoice_document(invoice: Invoice, parts: InvoiceParts | None = None) -> InvoiceDocument:
    """With its customer, lines and taxes, which are read unless they are at hand."""
    if parts is None:
        parts = InvoiceParts(list(invoice.lines.all()), invoice.charged_taxes)
    return InvoiceDocument(
        id=str(invoice.pk),
        status=invoice.status,
        number=invoice.number,
        formatted_number=formatted_number(invoice),
        custom_number=invoice.custom_number,
        po_number=invoice.po_number,
        buyer_reference=invoice.buyer_reference,
        public_token=invoice.public_token,
        hosted_url=hosted_url(invoice),
        x402_url=x402_url(invoice),
        customer_id=str(invoice.customer_id),
        customer=party(invoice.customer),
        subscription_id=str(invoice.subscription_id) if invoice.subscription_id else None,
        period_key=invoice.period_key,
        currency=invoice.currency,
        subtotal_cents=invoice.subtotal_cents,
        discount_cents=invoice.discount_cents,
        tax_cents=invoice.tax_cents,
        total_cents=invoice.total_cents,
        amount_paid_cents=invoice.amount_paid_cents,
        credit_applied_cents=invoice.credit_applied_cents,
        refunded_cents=invoice.refunded_cents,
        discount_type=invoice.discount_type,
        discount_value=invoice.discount_value,
        tax_rate_bps=invoice.tax_rate_bps,
        tax_rate_id=str(invoice.tax_rate_id) if invoice.tax_rate_id else None,
        tax_case=invoice.tax_case,
        taxes=[_tax(tax) for tax in parts.taxes],
        issued_on=_day(invoice.issued_on),
        supplied_from=_day(invoice.supplied_from),
        supplied_until=_day(invoice.supplied_until),
        due_on=_day(invoice.due_day),
        due_at=iso(invoice.due_at),
        description=invoice.description,
        notes=invoice.notes,
        footer=invoice.footer,
        metadata=invoice.metadata,
        needs_attention=invoice.needs_attention,
        line_items=[_line(line) for line in parts.lines],
        livemode=invoice.is_live,
        finalized_at=iso(invoice.finalized_at),
        paid_at=iso(invoice.paid_at),
        voided_at=iso(invoice.voided_at),
        created_at=iso(invoice.created_at),
        updated_at=iso(invoice.updated_at),
    )


def e_invoice_format(chosen: EInvoiceFormat, missing: str) -> EInvoiceFormatDocument:
    return EInvoiceFormatDocument(format=chosen.key, name=chosen.name, missing=missing or None)


def _line(line: InvoiceLine) -> InvoiceLineDocument:
    return InvoiceLineDocument(
        id=str(line.pk),
        description=line.description,
        quantity=line.quantity,
        unit_amount_cents=line.unit_amount_cents,
        amount_cents=line.amount_cents,
        net_cents=line.net_cents,
        tax_rate_id=str(line.tax_rate_id) if line.tax_rate_id else None,
        tax_category=line.tax_category,
        tax_rate_bps=line.tax_rate_bps,
        position=line.position,
    )


def _tax(tax: InvoiceTax) -> InvoiceTaxDocument:
    return InvoiceTaxDocument(
        category=tax.category,
        rate_bps=tax.rate_bps,
        name=tax.name,
        inclusive=tax.inclusive,
        discount_cents=tax.discount_cents,
        base_cents=tax.base_cents,
        tax_cents=tax.tax_cents,
        reason=tax.reason or None,
        reason_code=tax.reason_code or None,
    )


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def hosted_invoice(invoice: Invoice) -> HostedInvoice:
    """The fields that a customer may see are taken from the whole document."""
    store = invoice.store
    fields = asdict(invoice_document(invoice)) | {"merchant_name": store.brand_name or store.name}
    return convert(fields, HostedInvoice, from_attributes=True)
