"""Customers as every interface shows them."""

from apps.billing.models import Customer
from apps.core.clock import iso
from apps.core.messages.documents import Document, FreeForm, Id, Time


class CustomerDocument(Document, frozen=True, kw_only=True):
    id: Id
    email: str
    name: str | None
    phone: str | None
    address: FreeForm | None
    country: str | None
    vat_number: str | None
    tax_rate_id: Id | None
    buyer_reference: str | None
    electronic_address: str | None
    e_invoice_format: str | None
    metadata: FreeForm
    livemode: bool
    deleted_at: Time | None
    created_at: Time
    updated_at: Time


class CustomerSummary(Document, frozen=True, kw_only=True):
    """A customer inside other documents."""

    id: Id
    email: str
    name: str | None


def customer_document(customer: Customer) -> CustomerDocument:
    return CustomerDocument(
        id=str(customer.pk),
        email=customer.email,
        name=customer.name,
        phone=customer.phone,
        address=customer.address,
        country=customer.country,
        vat_number=customer.vat_number,
        tax_rate_id=str(customer.tax_rate_id) if customer.tax_rate_id else None,
        buyer_reference=customer.buyer_reference,
        electronic_address=customer.electronic_address,
        e_invoice_format=customer.e_invoice_format,
        metadata=customer.metadata,
        livemode=customer.is_live,
        deleted_at=iso(customer.deleted_at),
        created_at=iso(customer.created_at),
        updated_at=iso(customer.updated_at),
    )


def party(customer: Customer) -> CustomerSummary:
    return CustomerSummary(id=str(customer.pk), email=customer.email, name=customer.name)
