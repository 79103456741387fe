"""Payment of an invoice: one intent for the rest, never two payable ones, and a sweep that counts
completed ones.

Payments wake the sweep by name when an intent ends or is refunded; the periodic run finds what that
lost.
"""

import uuid
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from apps.access.access import Access
from apps.billing.documents.invoices import hosted_url
from apps.billing.invoices.counted_payments import asking_too_much, withdraw_asking_too_much
from apps.billing.invoices.lifecycle import pay_if_covered
from apps.billing.invoices.locking import locked_invoice
from apps.billing.models import Invoice, InvoicePayment
from apps.billing.numbers import formatted_number
from apps.billing.selectors import by_token, last_payment
from apps.billing.states import OPEN
from apps.billing.taxes.counting import smallest_cents
from apps.core import clock
from apps.core.errors import Failure, RefusalKind
from apps.core.marks import ReadingMark
from apps.core.money import text_from_cents
from apps.core.rows import Job
from apps.ledger.selectors import moved_since
from apps.payments import states
from apps.payments.models import LateDeposit, Payment, Refund
from apps.payments.requests import PaymentRequest
from apps.payments.services.create import AccountClosed, create_payment
from apps.payments.services.expire import expire_if_due
from apps.payments.services.looks import look_until

JOB = Job("billing.update_paid_amounts", limit=500)
MARK = ReadingMark(f"{JOB.name}:read")
# Movements after which an intent that has been counted brings more, or less.
_CHANGING = ("late_deposit_accepted", "refund_confirmed")
PAYABLE = (states.PENDING, states.PROCESSING)


class InvoiceNotFound(Failure):
    kind = RefusalKind.NOT_FOUND
    message = "Invoice not found"


class InvoiceNotPayable(Failure):
    message = "Invoice can't be paid"


def start_payment(token: str) -> tuple[Invoice, Payment, bool]:
    """The invoice's payable intent, and whether this call made it.

    Raises InvoiceNotFound, InvoiceNotPayable, or what creating an intent raises.
    """
    public = by_token(token)
    if public is None:
        raise InvoiceNotFound
    with transaction.atomic():
        invoice = locked_invoice(public.pk)
        link = last_payment(invoice)
        payment = expire_if_due(link.payment) if link is not None else None
        _bring_up_to_date(invoice)
        if invoice.status != OPEN or invoice.store.deleted_at is not None:
            raise InvoiceNotPayable
        if payment is not None:
            payment.refresh_from_db()
            if payment.status in PAYABLE:
                return invoice, payment, False
        return invoice, _make(invoice), True


def _make(invoice: Invoice) -> Payment:
    """An intent for what is left. The invoice's row is locked."""
    access = Access.for_public(invoice.store, invoice.mode)
    try:
        payment, _ = create_payment(access, _request(invoice))
    except AccountClosed:
        raise InvoiceNotPayable from None
    InvoicePayment.objects.create(invoice=invoice, payment=payment, created_at=payment.created_at)
    return payment


def _request(invoice: Invoice) -> PaymentRequest:
    step = smallest_cents(invoice.currency)
    number = formatted_number(invoice)
    remaining = -(-invoice.left_cents // step) * step
    return PaymentRequest(
        amount=text_from_cents(remaining),
        currency=invoice.currency,
        order_id=number,
        title=f"Invoice {number}",
        success_url=hosted_url(invoice),
        failed_url=hosted_url(invoice),  # where the next intent is made
        metadata={"invoice_id": str(invoice.pk)},
    )


def shown_payment(invoice: Invoice) -> Payment | None:
    """The intent that the hosted page shows, the latest; reading it expires one whose time is past
    and counts one that has ended."""
    link = last_payment(invoice)
    if link is None:
        return None
    payment = expire_if_due(link.payment)
    if link.counted_at is None and payment.status in states.TERMINAL:
        update_paid_amounts([payment.pk])
    return payment


def update_paid_amounts(
    payment_ids: Iterable[uuid.UUID | str] | None = None, store_id: uuid.UUID | None = None
) -> int:
    """Count what ended, was accepted late or refunded: of these intents, a store's test mode, or of
    all; how many invoices there were."""
    if payment_ids is None and store_id is None:
        return _update_all()
    links = InvoicePayment.objects.all()
    if payment_ids is not None:
        links = links.filter(payment_id__in=list(payment_ids))
    if store_id is not None:
        links = links.filter(invoice__store_id=store_id, invoice__mode="test")
    return JOB.each(lambda: _invoices_of(_ended(links), *_changed(links)), _update)


def _update_all() -> int:
    """Counts ended intents, and replaces those that ask for more than the rest. What was accepted
    late or refunded has been booked since the last run, whose place is kept; what failed comes
    again after its pause."""
    asking = asking_too_much(InvoicePayment.objects.all())
    look_until(dict(asking.values_list("payment_id", "accepted_at")[: JOB.limit]))
    reading = MARK.begin()
    newest, payment_ids = moved_since(reading.place, _CHANGING)
    of_these = InvoicePayment.objects.filter(payment_id__in=payment_ids)
    again = InvoicePayment.objects.filter(invoice_id__in=JOB.again())
    changed = _invoices_of(*_changed(of_these))
    invoice_ids = list(dict.fromkeys(_invoices_of(_ended(), asking, again) + changed))
    done = JOB.each(lambda: invoice_ids, _update)
    if done == len(invoice_ids) and len(changed) < JOB.limit:
        reading.end(newest)
    return done


def _invoices_of(*queries: "QuerySet[InvoicePayment]") -> list[uuid.UUID]:
    invoice_ids: dict[uuid.UUID, None] = {}
    for links in queries:
        ready = links.exclude(invoice_id__in=JOB.paused(Invoice)).order_by("id")
        invoice_ids |= dict.fromkeys(ready.values_list("invoice_id", flat=True)[: JOB.limit])
    return list(invoice_ids)


def _update(invoice_id: uuid.UUID) -> None:
    _bring_up_to_date(locked_invoice(invoice_id))


def _bring_up_to_date(invoice: Invoice) -> None:
    """Count what has ended, and end what asks for more than is left. The invoice's row is
    locked."""
    at = clock.now(invoice.store, invoice.mode)
    pay_if_covered(invoice, at)
    withdraw_asking_too_much(invoice, at)


def _ended(links: "QuerySet[InvoicePayment] | None" = None) -> "QuerySet[InvoicePayment]":
    of_these = InvoicePayment.objects.all() if links is None else links
    return of_these.filter(counted_at=None, payment__status__in=states.TERMINAL)


def _changed(
    links: "QuerySet[InvoicePayment]",
) -> "tuple[QuerySet[InvoicePayment], QuerySet[InvoicePayment]]":
    """Of these, those with a deposit that was accepted late, and counted ones with a refund, that
    weren't seen."""
    accepted = LateDeposit.objects.filter(
        payment_id=OuterRef("payment_id"), accepted_at__isnull=False
    )
    newer = accepted.filter(accepted_at__gt=OuterRef("late_seen_at"))
    is_new_refund = Q(refund_seen_at=None) | Q(refund_seen_at__lt=F("payment__updated_at"))
    brought = Q(counted_cents__gt=0) | Q(late_cents__gt=0)
    refunds = Refund.objects.filter(
        payment_id=OuterRef("payment_id"), status=Refund.Status.CONFIRMED
    )
    return (
        links.filter(Q(late_seen_at=None) | Exists(newer), Exists(accepted)),
        links.filter(is_new_refund, brought, Exists(refunds), payment__status=states.REFUNDED),
    )
