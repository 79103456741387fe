"""The payment that covers what an invoice has left to pay and waits for its confirmations: until it
has ended, the invoice isn't called unpaid (decision 541). Nor is it before the addresses of what is
being paid were looked at past the moment at which it was due (decision 582)."""

from datetime import datetime, timedelta
from itertools import chain

from django.db import transaction
from django.db.models import Q

from apps.access.access import Access
from apps.billing.invoices.lifecycle import (
    PaymentInProgress,
    mark_uncollectible,
    pay_if_covered,
)
from apps.billing.invoices.locking import locked_invoice
from apps.billing.models import Invoice, InvoicePayment
from apps.billing.periods import reminder_moment
from apps.billing.states import OPEN
from apps.core import clock
from apps.payments import states
from apps.payments.models import Payment
from apps.payments.services.looks import is_known, look_until
from apps.payments.services.settle import settle_payment

LOOK_AGAIN = timedelta(minutes=1)
# Who has waited long is looked at less often: a moment later by so much of the wait.
_PART_OF_WAIT = 8
_UNDER_WAY = (states.PENDING, states.PROCESSING)
_LOOKS_MAX = 1000


def look_before_judging() -> None:
    """Look at the addresses of payments under way whose invoices are due, or whose customers are to
    be reminded, past that moment: contracts pay without a transfer that a block tells of. Not
    inside a transaction."""
    at = clock.real_now()
    is_due = Q(invoice__due_at__lte=at, invoice__due_judged_at=None) & ~Q(
        invoice__subscription=None
    )
    is_reminded = Q(invoice__next_letter_at__lte=at, invoice__due_at__isnull=False)
    links = InvoicePayment.objects.filter(
        is_due | is_reminded,
        counted_at=None,
        payment__status__in=_UNDER_WAY,
        invoice__status=OPEN,
    ).order_by("invoice__due_at", "id")
    moments = {}
    for link in links.select_related("invoice")[:_LOOKS_MAX]:
        due, reminder_at = link.invoice.due_at, link.invoice.next_letter_at
        if due is not None:
            is_email = reminder_at is not None and reminder_at <= at
            moments[link.payment_id] = reminder_moment(due, at) if is_email else due
    look_until(moments)


def awaited_payment(invoice: Invoice, moment: datetime, at: datetime) -> Payment | None:
    """The payment that an open invoice waits for before anybody says that it was unpaid at that
    moment: one that is confirming and enough, else one to which more may have come by then than is
    booked. What has been seen and what has ended counts first, so the invoice may be paid
    afterward. Its row is locked."""
    links = InvoicePayment.objects.filter(
        invoice=invoice, counted_at=None, payment__status__in=_UNDER_WAY
    )
    payment_ids = list(links.values_list("payment_id", flat=True))
    under_way = [settle_payment(payment_id) for payment_id in payment_ids]
    pay_if_covered(invoice, at)
    if invoice.status != OPEN:
        return None
    covering = [row for row in under_way if covers(row, invoice)]
    return next(chain(covering, (row for row in under_way if _is_unread(row, moment))), None)


def _is_unread(payment: Payment, moment: datetime) -> bool:
    """Coins may have come by then that nobody has seen yet."""
    return (
        payment.status in _UNDER_WAY
        and payment.created_at < moment
        and not is_known(payment, payment.addresses.select_related("asset"), moment)
    )


def covers(payment: Payment, invoice: Invoice) -> bool:
    """It is confirming, and enough for an open invoice that it was made for; as
    selectors.CONFIRMING asks of many. What left the chain may come again, until its deadline."""
    return (
        invoice.status == OPEN
        and payment.status == states.PROCESSING
        and payment.state_reason == states.PENDING_CONFIRMATIONS
        and payment.settlement_amount_cents >= invoice.left_cents
    )


def next_look(since: datetime, payment: Payment, at: datetime) -> datetime:
    """Next check of an invoice that has waited since then for this payment: at its deadline at the
    latest."""
    again = at + max(LOOK_AGAIN, (at - since) / _PART_OF_WAIT)
    return min(again, payment.deadline) if at < payment.deadline else again


def write_off(access: Access, invoice: Invoice) -> Invoice:
    """Write it off as a person does, who doesn't know what is on its way. Raises
    PaymentInProgress."""
    with transaction.atomic():
        at = access.now()
        payment = awaited_payment(locked_invoice(invoice.pk), at, at)
        if payment is not None and covers(payment, invoice):
            raise PaymentInProgress
        return mark_uncollectible(access, invoice)
