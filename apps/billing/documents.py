"""Rows of billing as the API and the events show them. Callers fetch with the selectors, which load what is shown."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from msgspec.structs import asdict

from apps.billing.models import Customer, Invoice, InvoiceLine, Price, Product, Subscription
from apps.core.clock import iso
from apps.core.documents import Document, Id, Time

# A free-form object, kept and answered as its store wrote it.
FreeForm = dict[str, Any]


class ProductDocument(Document, frozen=True, kw_only=True):
    id: Id
    name: str
    description: str | None
    active: bool
    metadata: FreeForm
    livemode: bool
    created_at: Time
    updated_at: Time


class PriceDocument(Document, frozen=True, kw_only=True):
    id: Id
    product_id: Id
    unit_amount_cents: int
    currency: str
    interval: str
    interval_count: int
    active: bool
    metadata: FreeForm
    livemode: bool
    created_at: Time
    updated_at: Time


class ProductWithPrices(ProductDocument, frozen=True, kw_only=True):
    prices: list[PriceDocument]


class CustomerDocument(Document, frozen=True, kw_only=True):
    id: Id
    email: str
    name: str | None
    phone: str | None
    address: FreeForm | None
    metadata: FreeForm
    livemode: bool
    deleted_at: Time | None
    created_at: Time
    updated_at: Time


def product_document(product: Product) -> ProductDocument:
    return ProductDocument(
        id=str(product.pk),
        name=product.name,
        description=product.description,
        active=product.active,
        metadata=product.metadata,
        livemode=product.is_live,
        created_at=iso(product.created_at),
        updated_at=iso(product.updated_at),
    )


def product_with_prices(product: Product, prices: Iterable[Price]) -> ProductWithPrices:
    return ProductWithPrices(**asdict(product_document(product)), prices=[price_document(one) for one in prices])


def price_document(price: Price) -> PriceDocument:
    return PriceDocument(
        id=str(price.pk),
        product_id=str(price.product_id),
        unit_amount_cents=price.unit_amount_cents,
        currency=price.currency,
        interval=price.interval,
        interval_count=price.interval_count,
        active=price.active,
        metadata=price.metadata,
        livemode=price.is_live,
        created_at=iso(price.created_at),
        updated_at=iso(price.updated_at),
    )


def customer_document(customer: Customer) -> CustomerDocument:
    return CustomerDocument(
        id=str(customer.pk),
        email=customer.email,
        name=customer.name,
        phone=customer.phone,
        address=customer.address,
        metadata=customer.metadata,
        livemode=customer.is_live,
        deleted_at=iso(customer.deleted_at),
        created_at=iso(customer.created_at),
        updated_at=iso(customer.updated_at),
    )


def _customer_part(customer: Customer) -> dict[str, Any]:
    return {"id": str(customer.pk), "email": customer.email, "name": customer.name}


def _price_part(price: Price) -> dict[str, Any]:
    return {
        "id": str(price.pk),
        "product_id": str(price.product_id),
        "product_name": price.product.name,
        "unit_amount_cents": price.unit_amount_cents,
        "currency": price.currency,
        "interval": price.interval,
        "interval_count": price.interval_count,
    }


def subscription_document(subscription: Subscription) -> dict[str, Any]:
    """With its customer, price, items and what a cycle costs. The first item is the anchor and has no id."""
    price, add_ons = subscription.price, list(subscription.add_ons.all())
    lines = [(None, subscription.quantity, price), *((str(one.pk), one.quantity, one.price) for one in add_ons)]
    return {
        "id": str(subscription.pk),
        "customer_id": str(subscription.customer_id),
        "price_id": str(subscription.price_id),
        "quantity": subscription.quantity,
        "status": subscription.status,
        "started_at": iso(subscription.started_at),
        "current_period_start": iso(subscription.current_period_start),
        "current_period_end": iso(subscription.current_period_end),
        "next_billing_at": iso(subscription.next_billing_at),
        "trial_end": iso(subscription.trial_end),
        "cancel_at_period_end": subscription.cancel_at_period_end,
        "cancel_at": iso(subscription.cancel_at),
        "canceled_at": iso(subscription.canceled_at),
        "paused_at": iso(subscription.paused_at),
        "failed_cycle_count": subscription.failed_cycle_count,
        "grace_cycles": subscription.grace_cycles,
        "amount_cents": sum(quantity * one.unit_amount_cents for _, quantity, one in lines),
        "currency": price.currency,
        "interval": price.interval,
        "interval_count": price.interval_count,
        "items": [{"id": id, "quantity": quantity, "price": _price_part(one)} for id, quantity, one in lines],
        "price": _price_part(price),
        "customer": _customer_part(subscription.customer),
        "metadata": subscription.metadata,
        "livemode": subscription.is_live,
        "created_at": iso(subscription.created_at),
        "updated_at": iso(subscription.updated_at),
    }


def formatted_number(invoice: Invoice) -> str | None:
    """What people call the invoice; a draft has none unless it was given one."""
    return invoice.custom_number or (f"INV-{invoice.number:04d}" if invoice.number is not None else None)


def hosted_url(invoice: Invoice) -> str | None:
    """The page where the customer pays."""
    return f"{settings.PUBLIC_URL}/invoice/{invoice.public_token}" if invoice.public_token else None


def invoice_document(invoice: Invoice, lines: Sequence[InvoiceLine] | None = None) -> dict[str, Any]:
    """With its customer and lines, which are read unless they are at hand."""
    return {
        "id": str(invoice.pk),
        "status": invoice.status,
        "number": invoice.number,
        "formatted_number": formatted_number(invoice),
        "custom_number": invoice.custom_number,
        "po_number": invoice.po_number,
        "public_token": invoice.public_token,
        "hosted_url": hosted_url(invoice),
        "customer_id": str(invoice.customer_id),
        "customer": _customer_part(invoice.customer),
        "subscription_id": str(invoice.subscription_id) if invoice.subscription_id else None,
        "period_key": invoice.period_key,
        "currency": invoice.currency,
        **_totals(invoice),
        "amount_paid_cents": invoice.amount_paid_cents,
        "refunded_cents": invoice.refunded_cents,
        "discount_type": invoice.discount_type,
        "discount_value": invoice.discount_value,
        "tax_rate_bps": invoice.tax_rate_bps,
        "due_at": iso(invoice.due_at),
        "description": invoice.description,
        "notes": invoice.notes,
        "footer": invoice.footer,
        "metadata": invoice.metadata,
        "needs_attention": invoice.needs_attention,
        "line_items": [{"id": str(one.pk), **_line(one)} for one in (invoice.lines.all() if lines is None else lines)],
        "livemode": invoice.is_live,
        "finalized_at": iso(invoice.finalized_at),
        "paid_at": iso(invoice.paid_at),
        "voided_at": iso(invoice.voided_at),
        "created_at": iso(invoice.created_at),
        "updated_at": iso(invoice.updated_at),
    }


def _totals(invoice: Invoice) -> dict[str, int]:
    return {
        "subtotal_cents": invoice.subtotal_cents,
        "discount_cents": invoice.discount_cents,
        "tax_cents": invoice.tax_cents,
        "total_cents": invoice.total_cents,
    }


def _line(line: InvoiceLine) -> dict[str, Any]:
    return {
        "description": line.description,
        "quantity": line.quantity,
        "unit_amount_cents": line.unit_amount_cents,
        "amount_cents": line.amount_cents,
        "position": line.position,
    }


def hosted_invoice(invoice: Invoice) -> dict[str, Any]:
    """What the customer may see of it; a door adds `payment`. Never ids of the store's records, nor metadata."""
    store = invoice.store
    return {
        "public_token": invoice.public_token,
        "number": invoice.number,
        "formatted_number": formatted_number(invoice),
        "po_number": invoice.po_number,
        "status": invoice.status,
        "currency": invoice.currency,
        **_totals(invoice),
        "amount_paid_cents": invoice.amount_paid_cents,
        "due_at": iso(invoice.due_at),
        "description": invoice.description,
        "notes": invoice.notes,
        "footer": invoice.footer,
        "merchant_name": store.brand_name or store.name,
        "customer": {"name": invoice.customer.name, "email": invoice.customer.email},
        "line_items": [_line(one) for one in invoice.lines.all()],
        "livemode": invoice.is_live,
    }
