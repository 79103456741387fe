"""Every change of an invoice or subscription leaves a history row and, if it has a public name, an
event with the full object.

Billing events stay with the store: platforms don't hear of them.
"""

from collections.abc import Sequence
from datetime import datetime

from apps.billing.documents.credit_notes import credit_note_document
from apps.billing.documents.invoices import invoice_document
from apps.billing.documents.subscriptions import subscription_document
from apps.billing.models import CreditNote, Invoice, InvoiceChange, Subscription, SubscriptionChange
from apps.billing.numbers import formatted_number
from apps.billing.states import (
    ACTIVE,
    INVOICE_EVENTS,
    INVOICE_MACHINE,
    PAID,
    PAST_DUE,
    SUBSCRIPTION_MACHINE,
    InvoiceMove,
    SubscriptionMove,
)
from apps.core import clock
from apps.core.machine import Change
from apps.core.money import Fiat
from apps.core.text.regions import in_english
from apps.stores.notices.kinds import INVOICE_PAID, SUBSCRIPTION_PAST_DUE
from apps.stores.notices.notifications import NewNotification, record
from apps.webhooks import events as webhooks

_UNPAID = "Its invoice wasn’t paid in time."
_RECOVERED = "None of its invoices is open anymore."


@INVOICE_MACHINE.recorder
def _record_invoices(changes: Sequence[Change[Invoice, InvoiceMove]]) -> None:
    InvoiceChange.objects.bulk_create(
        InvoiceChange(
            invoice=change.row,
            change=change.step.status,
            from_status=change.before,
            to_status=change.step.status,
            created_at=change.at,
        )
        for change in changes
    )
    webhooks.record_all(
        [
            webhooks.NewEvent(
                change.row.store_id,
                change.row.mode,
                INVOICE_EVENTS[change.step.status],
                invoice_document(change.row, change.step.parts.get(change.row.pk)),
                change.at,
            )
            for change in changes
            if change.step.status in INVOICE_EVENTS
        ]
    )
    for change in changes:
        if change.step.status == PAID:
            _tell_paid(change.row)


def _tell_paid(invoice: Invoice) -> None:
    total = in_english(Fiat(invoice.total_cents, invoice.currency))
    title = f"Invoice {formatted_number(invoice)} of {total} was paid"
    path = f"/dashboard/invoices/{invoice.pk}"
    place = invoice.store_id, invoice.mode, INVOICE_PAID
    record(NewNotification(*place, invoice.pk, title, path, amount=total))


def credit_note_created(note: CreditNote) -> None:
    """Part of an invoice was taken back."""
    webhooks.record(
        store_id=note.store_id,
        mode=note.mode,
        type="credit_note.created",
        object=credit_note_document(note),
        at=note.created_at,
    )
    invoice_noted(note.invoice, "credited", note.created_at)


def invoice_noted(invoice: Invoice, change: str, at: datetime) -> None:
    """Something happened to an invoice that leaves its status and has no event: a part payment, a
    email."""
    InvoiceChange.objects.create(
        invoice=invoice,
        change=change,
        from_status=invoice.status,
        to_status=invoice.status,
        created_at=at,
    )


@SUBSCRIPTION_MACHINE.recorder
def _record_subscriptions(changes: Sequence[Change[Subscription, SubscriptionMove]]) -> None:
    for change in changes:
        subscription_changed(
            change.row, change.step.change, change.before, change.at, change.step.event
        )


def subscription_changed(
    subscription: Subscription,
    change: str,
    before: str | None,
    at: datetime,
    event: str | None = None,
) -> None:
    """Something happened to a subscription; `event` is the last part of the public name, None when
    nobody is notified."""
    SubscriptionChange.objects.create(
        subscription=subscription,
        change=change,
        from_status=before,
        to_status=subscription.status,
        created_at=at,
    )
    if event is not None:
        webhooks.record(
            store_id=subscription.store_id,
            mode=subscription.mode,
            type=f"subscription.{event}",
            object=subscription_document(subscription),
            at=at,
        )
    if event == PAST_DUE:
        period = clock.iso(subscription.current_period_end)
        _notify(subscription, period, "A subscription is past due", _UNPAID)
    elif before == PAST_DUE and subscription.status == ACTIVE:
        _notify(subscription, clock.iso(at), "A subscription is active again", _RECOVERED)


def _notify(subscription: Subscription, part: str, title: str, text: str) -> None:
    news = (subscription.store_id, subscription.mode, SUBSCRIPTION_PAST_DUE)
    path = f"/dashboard/subscriptions/{subscription.pk}"
    record(NewNotification(*news, f"{subscription.pk}:{part}", title, path, text))
