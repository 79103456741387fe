"""Every change of an invoice or subscription leaves a history row and, if it has a public name, an event with the full object.

Billing events stay with the store: platforms don't hear of them.
"""

from collections.abc import Sequence
from datetime import datetime

from apps.billing.documents.invoices import invoice_document
from apps.billing.documents.subscriptions import subscription_document
from apps.billing.models import Invoice, InvoiceChange, InvoiceLine, Subscription, SubscriptionChange
from apps.billing.states import INVOICE_EVENTS
from apps.webhooks import events as webhooks


def invoice_moved(invoice: Invoice, before: str, at: datetime, lines: Sequence[InvoiceLine] | None = None) -> None:
    """An invoice has another status than `before`; `lines` when they are at hand."""
    InvoiceChange.objects.create(invoice=invoice, change=invoice.status, from_status=before, to_status=invoice.status, created_at=at)
    name = INVOICE_EVENTS.get(invoice.status)
    if name is not None:
        webhooks.record(store_id=invoice.store_id, mode=invoice.mode, type=name, object=invoice_document(invoice, lines), at=at)


def invoice_noted(invoice: Invoice, change: str, at: datetime) -> None:
    """Something happened to an invoice that leaves its status and has no event: a part payment, a letter."""
    InvoiceChange.objects.create(invoice=invoice, change=change, from_status=invoice.status, to_status=invoice.status, created_at=at)


def subscription_changed(subscription: Subscription, change: str, before: str | None, at: datetime, event: str | None = None) -> None:
    """`event` is the last part of the public name, None when nobody is told."""
    SubscriptionChange.objects.create(
        subscription=subscription, change=change, from_status=before, to_status=subscription.status, created_at=at
    )
    if event is not None:
        webhooks.record(
            store_id=subscription.store_id,
            mode=subscription.mode,
            type=f"subscription.{event}",
            object=subscription_document(subscription),
            at=at,
        )
