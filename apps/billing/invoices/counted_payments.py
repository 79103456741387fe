"""Credit of payment intents towards their invoice: each is counted once, when it has ended; refunds
are added later.

A completed intent counts with its full settlement amount, one completed short with what arrived,
any other with nothing; a deposit that came after the end counts once the merchant has accepted it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from apps.billing import events
from apps.billing.models import Invoice, InvoicePayment
from apps.billing.states import OPEN, OVERPAID, PAID
from apps.billing.taxes.counting import smallest_cents
from apps.chain.models import Deposit
from apps.core import money
from apps.core.money import BASIS_POINTS
from apps.payments import states
from apps.payments.documents.financials import paid_cents
from apps.payments.models import Payment, PaymentEvent, Refund
from apps.payments.selectors import Received, received_by
from apps.payments.services.looks import is_known
from apps.payments.services.withdraw import withdraw


def count_payments(invoice: Invoice, at: datetime) -> bool:
    """Add what has ended, was accepted late or was given back since; True when anything was. The
    invoice's row is locked."""
    waiting = InvoicePayment.objects.filter(
        invoice=invoice, payment__status__in=states.TERMINAL
    ).select_related("payment__store")
    is_counted = False
    for link in waiting:
        if link.counted_at is None:
            _count(invoice, link, at)
            is_counted = True
        if _count_late(invoice, link, at):
            is_counted = True
        if (
            link.brought_cents
            and link.payment.status == states.REFUNDED
            and link.refund_seen_at != link.payment.updated_at
        ):
            is_counted = _count_refunds(invoice, link, at) or is_counted
    return is_counted


def _count(invoice: Invoice, link: InvoicePayment, at: datetime) -> None:
    link.counted_cents = worth_cents(link.payment)
    link.counted_at = at
    link.save(update_fields=["counted_cents", "counted_at"])
    if link.counted_cents:
        _add(invoice, link.counted_cents, "payment_counted", at)


def _add(invoice: Invoice, cents: int, change: str, at: datetime) -> None:
    invoice.amount_paid_cents += cents
    if invoice.status not in (OPEN, PAID):
        invoice.needs_attention = f"paid_{invoice.status}"
    elif invoice.excess_cents:
        invoice.needs_attention = OVERPAID
    invoice.updated_at = at
    invoice.save(update_fields=["amount_paid_cents", "needs_attention", "updated_at"])
    events.invoice_noted(invoice, change, at)


def worth_cents(payment: Payment) -> int:
    """Credit of an ended intent towards its invoice, in cents."""
    if payment.completed_at is None:
        return 0
    if _reason(payment) == states.COMPLETED_UNDERPAID:
        return min(paid_cents(received_by(payment)), payment.settlement_amount_cents)
    return payment.settlement_amount_cents


def _reason(payment: Payment) -> str | None:
    """Why it completed; a refund has written over it, so the history is asked."""
    if payment.status == states.COMPLETED:
        return payment.state_reason
    done = PaymentEvent.objects.filter(
        payment=payment, event_type=states.EVENTS[states.COMPLETED]
    ).first()
    return done.payload.get("state_reason") if done is not None else None


def _count_late(invoice: Invoice, link: InvoicePayment, at: datetime) -> bool:
    """Deposits that came after the intent's end and that the merchant accepted since."""
    accepted = list(
        link.payment.late_deposits.filter(accepted_at__isnull=False).values_list(
            "deposit_id", "accepted_at"
        )
    )
    last = max((moment for _, moment in accepted if moment is not None), default=None)
    if last is None or last == link.late_seen_at:
        return False
    worth = _late_cents(link, frozenset(deposit_id for deposit_id, _ in accepted))
    more = worth - link.late_cents
    link.late_cents = worth
    link.late_seen_at = last
    link.save(update_fields=["late_cents", "late_seen_at"])
    if more <= 0:
        return False
    _add(invoice, more, "late_payment_counted", at)
    return True


def asking_too_much(links: "QuerySet[InvoicePayment]") -> "QuerySet[Any]":
    """Those of these whose intent waits for its first deposit and was made before money that came
    late to another intent of the invoice was accepted (`accepted_at`)."""
    accepted = InvoicePayment.objects.filter(
        invoice=OuterRef("invoice"), late_cents__gt=0, late_seen_at__gt=OuterRef("created_at")
    ).order_by("-late_seen_at")
    return (
        links.filter(counted_at=None, payment__status=states.PENDING)
        .annotate(accepted_at=Subquery(accepted.values("late_seen_at")[:1]))
        .filter(accepted_at__isnull=False)
    )


def withdraw_asking_too_much(invoice: Invoice, at: datetime) -> None:
    """End what asks for more than is left, once nothing can have come to it that isn't booked. The
    invoice's row is locked."""
    links = asking_too_much(InvoicePayment.objects.filter(invoice=invoice))
    for link in links.select_related("payment__store"):
        excess_cents = link.payment.settlement_amount_cents - invoice.left_cents
        addresses = link.payment.addresses.select_related("asset")
        if excess_cents >= smallest_cents(invoice.currency) and is_known(
            link.payment, addresses, link.accepted_at
        ):
            withdraw(link.payment_id, at)


def _late_cents(link: InvoicePayment, accepted: frozenset[object]) -> int:
    """As of a payment of that amount: at the locked rates, in full within the tolerance, and never
    more than the intent asked for."""
    payment = link.payment
    due_cents = payment.settlement_amount_cents - link.counted_cents
    worth = sum(
        money.cents_for_atomic(
            deposit.amount_atomic,
            intake.address.exchange_rate,
            intake.address.asset.atomic_decimals,
        )
        for intake in received_by(payment)
        for deposit in intake.accepted
        if deposit.pk in accepted and not _is_in_end(payment, intake, deposit)
    )
    is_enough = worth * BASIS_POINTS >= due_cents * (
        BASIS_POINTS - payment.store.underpayment_tolerance_bps
    )
    return due_cents if is_enough else worth


def _is_in_end(payment: Payment, intake: Received, deposit: Deposit) -> bool:
    """An accepted deposit is a part of what completed the intent, and counted with it."""
    return payment.completed_at is not None and intake.late[deposit.pk].is_counted


def _count_refunds(invoice: Invoice, link: InvoicePayment, at: datetime) -> bool:
    """A refund leaves the status; the sum of them is shown."""
    before = link.refunded_cents
    link.refund_seen_at = link.payment.updated_at
    link.refunded_cents = _refunded_cents(link, (Refund.Status.CONFIRMED,))
    link.save(update_fields=["refunded_cents", "refund_seen_at"])
    if link.refunded_cents == before:
        return False
    invoice.refunded_cents += link.refunded_cents - before
    if invoice.needs_attention == OVERPAID and not invoice.excess_cents:
        invoice.needs_attention = None
    invoice.updated_at = at
    invoice.save(update_fields=["refunded_cents", "needs_attention", "updated_at"])
    events.invoice_noted(invoice, "refunded", at)
    return True


def with_refunds(links: Sequence[InvoicePayment]) -> list[InvoicePayment]:
    """Those that a refund gives something back of; one query, however many there are."""
    refunds = Refund.objects.filter(payment__in=[link.payment_id for link in links])
    refunds = refunds.filter(status__in=_NOT_FAILED, is_from_held=False)
    refunded = set(refunds.values_list("payment_id", flat=True))
    return [link for link in links if link.payment_id in refunded]


def refunding_cents(link: InvoicePayment) -> int:
    """Cents that refunds under way, or that nobody counted yet, give back."""
    return max(0, _refunded_cents(link, _NOT_FAILED) - link.refunded_cents)


_NOT_FAILED = tuple(status for status in Refund.Status if status != Refund.Status.FAILED)


def _refunded_cents(link: InvoicePayment, statuses: Sequence[str]) -> int:
    """Of what was counted, what refunds gave back, at the intent's rates; what was only held never
    counted."""
    payment = link.payment
    refunds = Refund.objects.filter(payment=payment, status__in=statuses, is_from_held=False)
    back: dict[str, int] = {}
    for asset_id, amount in refunds.values_list("asset_id", "amount_atomic"):
        back[asset_id] = back.get(asset_id, 0) + amount
    received = received_by(payment)
    worth = 0
    is_all = True
    for intake in received:
        settled = intake.accepted_atomic
        settled += intake.on_time_atomic if payment.completed_at is not None else 0
        returned = back.get(intake.address.asset_id, 0)
        is_all = is_all and returned >= settled
        worth += money.cents_for_atomic(
            returned, intake.address.exchange_rate, intake.address.asset.atomic_decimals
        )
    return link.brought_cents if is_all else min(worth, link.brought_cents)
