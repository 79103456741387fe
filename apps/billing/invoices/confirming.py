"""The payment that covers what an invoice has left to pay and waits for its confirmations: until it
has ended, the invoice isn't called unpaid (decision 541)."""

from datetime import datetime, timedelta

from django.db import transaction

from apps.access.access import Access
from apps.billing.invoices.lifecycle import (
    PaymentInProgress,
    mark_uncollectible,
    pay_if_covered,
)
from apps.billing.invoices.locking import locked_invoice
from apps.billing.models import Invoice, InvoicePayment
from apps.billing.states import OPEN
from apps.chain.selectors import is_caught_up
from apps.core.models import Mode
from apps.payments import states
from apps.payments.models import Payment
from apps.payments.services.settle import settle_payment

LOOK_AGAIN = timedelta(minutes=1)
# Who has waited long is looked at less often: a moment later by so much of the wait.
_PART_OF_WAIT = 8
_UNDER_WAY = (states.PENDING, states.PROCESSING)


def awaited_payment(invoice: Invoice, moment: datetime, at: datetime) -> Payment | None:
    """The payment that an open invoice waits for before anybody says that it was unpaid at that
    moment: one that is confirming and enough, or one whose blocks haven't been read up to then.
    What has been seen and what has ended counts first, so the invoice may be paid afterward. Its
    row is locked."""
    links = InvoicePayment.objects.filter(
        invoice=invoice, counted_at=None, payment__status__in=_UNDER_WAY
    )
    payment_ids = list(links.values_list("payment_id", flat=True))
    under_way = [settle_payment(payment_id) for payment_id in payment_ids]
    pay_if_covered(invoice, at)
    if invoice.status != OPEN:
        return None
    awaited = (row for row in under_way if covers(row, invoice) or _is_unread(row, moment))
    return next(awaited, None)


def _is_unread(payment: Payment, moment: datetime) -> bool:
    """Coins may have come by then that nobody has seen yet. A test clock that was moved shows a
    time that no block has."""
    if payment.status != states.PENDING or (
        payment.mode == Mode.TEST and payment.store.test_offset_seconds
    ):
        return False
    chains = payment.addresses.values_list("asset__chain_id", flat=True).distinct()
    return not all(is_caught_up(chain_id, moment) for chain_id in chains)


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
    """When an invoice that has waited since then for this payment is looked at again: at its
    deadline in any case."""
    again = at + max(LOOK_AGAIN, (at - since) / _PART_OF_WAIT)
    return min(again, payment.deadline) if at < payment.deadline else again


def write_off(access: Access, invoice: Invoice) -> Invoice:
    """Write it off as a person does, who doesn't know what is on its way. Raises
    PaymentInProgress."""
    with transaction.atomic():
        at = access.now()
        payment = awaited_payment(locked_invoice(invoice.pk), at, at)
        if payment is not None and payment.status == states.PROCESSING:
            raise PaymentInProgress
        return mark_uncollectible(access, invoice)
