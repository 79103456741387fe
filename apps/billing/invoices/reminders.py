"""Reminders: one email some days before an invoice is due and one some days after, to customers
who were sent the invoice.

`next_letter_at` is when the next of them is due, null when nothing follows. What has ended, is void
or written off, is being paid, or belongs to a paused subscription is not reminded of; what was
missed while the service was down is not made up for.
"""

import uuid
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.billing.invoices.confirming import (
    awaited_payment,
    look_before_judging,
    next_look,
)
from apps.billing.invoices.locking import locked_invoice
from apps.billing.models import Invoice
from apps.billing.periods import REMINDED_AFTER, next_reminder, reminder_moment
from apps.billing.services import emails
from apps.billing.states import OPEN, PAUSED
from apps.core import clock
from apps.core.rows import Job
from apps.stores.staff.suspensions import Suspension, goes_on

LOOKS_AT = (Invoice,)
JOB = Job("billing.send_reminders", limit=2000)


def send_reminders() -> int:
    """The sweep over every store, the longest due first; how many invoices were looked at."""
    look_before_judging()
    rows = Invoice.objects.order_by("next_letter_at")
    open_stores = goes_on(Suspension.PAYMENTS) & Q(store__deleted_at=None)
    return JOB.walk_due(rows, "next_letter_at", remind, clock.real_now(), open_stores)


def remind(invoice_id: uuid.UUID) -> None:
    """Send what is due of one invoice, unless what pays it has just completed, and note when the
    next is. One that is being paid is looked at again."""
    with transaction.atomic():
        invoice = locked_invoice(invoice_id)
        at = clock.now(invoice.store, invoice.mode)
        if invoice.next_letter_at is None or invoice.next_letter_at > at:
            return
        if invoice.due_at is None or invoice.finalized_at is None:
            return
        moment = reminder_moment(invoice.due_at, at)
        payment = awaited_payment(invoice, moment, at)
        if invoice.status != OPEN:
            return
        following = next_reminder(invoice.finalized_at, invoice.due_at, at)
        if payment is not None:
            again = next_look(moment, payment, at)
            following = min(again, following or again)
        elif not _is_paused(invoice):
            _send(invoice, invoice.due_at, at)
        invoice.next_letter_at = following
        Invoice.objects.filter(pk=invoice.pk).update(next_letter_at=invoice.next_letter_at)


def _is_paused(invoice: Invoice) -> bool:
    return invoice.subscription is not None and invoice.subscription.status == PAUSED


def _send(invoice: Invoice, due: datetime, at: datetime) -> None:
    """Between the two, after a payment that came to nothing, there is none."""
    if due > at:
        emails.due_soon(invoice)
    elif at >= due + REMINDED_AFTER:
        emails.overdue(invoice)


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """Next reminder to a customer of the store's test mode."""
    rows = _of_store(store_id)
    if after is not None:
        rows = rows.filter(next_letter_at__gt=after)
    return rows.order_by("next_letter_at").values_list("next_letter_at", flat=True).first()


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    for invoice_id in list(
        _of_store(store_id)
        .filter(next_letter_at__lte=now)
        .order_by("next_letter_at")
        .values_list("pk", flat=True)
    ):
        remind(invoice_id)


def _of_store(store_id: uuid.UUID) -> "QuerySet[Invoice]":
    rows = Invoice.objects.filter(goes_on(Suspension.PAYMENTS), store_id=store_id, mode="test")
    return rows.filter(next_letter_at__isnull=False)
