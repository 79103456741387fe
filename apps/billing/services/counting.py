"""What the payment intents of an invoice are worth to it: each is counted once, when it has ended; refunds are added as they come.

A completed intent counts with its full settlement amount, one completed short with what arrived, any other with nothing.
"""

from datetime import datetime

from apps.billing import events
from apps.billing.models import Invoice, InvoicePayment
from apps.billing.states import OPEN, PAID
from apps.core import money
from apps.payments import states
from apps.payments.documents.detail import paid_cents
from apps.payments.models import Payment, PaymentEvent, Refund
from apps.payments.selectors import received_by


def count_payments(invoice: Invoice, at: datetime) -> bool:
    """Add what has ended or was given back since; True when something was counted. The invoice's row is locked."""
    waiting = InvoicePayment.objects.filter(invoice=invoice, payment__status__in=states.TERMINAL).select_related("payment")
    is_counted = False
    for link in waiting:
        if link.counted_at is None:
            _count(invoice, link, at)
            is_counted = True
        if link.counted_cents and link.payment.status == states.REFUNDED and link.refund_seen_at != link.payment.updated_at:
            _count_refunds(invoice, link, at)
    return is_counted


def _count(invoice: Invoice, link: InvoicePayment, at: datetime) -> None:
    link.counted_cents, link.counted_at = worth_cents(link.payment), at
    link.save(update_fields=["counted_cents", "counted_at"])
    if not link.counted_cents:
        return
    invoice.amount_paid_cents += link.counted_cents
    if invoice.status not in (OPEN, PAID):
        invoice.needs_attention = f"paid_{invoice.status}"
    invoice.updated_at = at
    invoice.save(update_fields=["amount_paid_cents", "needs_attention", "updated_at"])
    events.invoice_noted(invoice, "payment_counted", at)


def worth_cents(payment: Payment) -> int:
    """What an intent that has ended counts toward its invoice."""
    if payment.completed_at is None:
        return 0
    if _reason(payment) == states.COMPLETED_UNDERPAID:
        return min(paid_cents(received_by(payment)), payment.settlement_amount_cents)
    return payment.settlement_amount_cents


def _reason(payment: Payment) -> str | None:
    """Why it completed; a refund has written over it, so the history is asked."""
    if payment.status == states.COMPLETED:
        return payment.state_reason
    done = PaymentEvent.objects.filter(payment=payment, event_type=states.EVENTS[states.COMPLETED]).first()
    return done.payload.get("state_reason") if done is not None else None


def _count_refunds(invoice: Invoice, link: InvoicePayment, at: datetime) -> None:
    """A refund leaves the status; the sum of them is told."""
    payment = link.payment
    before, link.refund_seen_at = link.refunded_cents, payment.updated_at
    link.refunded_cents = link.counted_cents if payment.refund_state == Payment.RefundState.FULL else _refunded_cents(payment)
    link.save(update_fields=["refunded_cents", "refund_seen_at"])
    if link.refunded_cents == before:
        return
    invoice.refunded_cents += link.refunded_cents - before
    invoice.updated_at = at
    invoice.save(update_fields=["refunded_cents", "updated_at"])
    events.invoice_noted(invoice, "refunded", at)


def _refunded_cents(payment: Payment) -> int:
    """What confirmed refunds are worth at the rates of the intent."""
    addresses = {one.asset_id: one for one in payment.addresses.select_related("asset")}
    total = 0
    for refund in Refund.objects.filter(payment=payment, status=Refund.Status.CONFIRMED):
        way = addresses[refund.asset_id]
        total += money.cents_for_atomic(refund.amount_atomic, way.exchange_rate, way.asset.atomic_decimals)
    return total
