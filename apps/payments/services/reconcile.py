"""Does what the chain brought, what the intent says and what the ledger has agree? Asked within a
minute of each change."""

from collections import Counter
from uuid import UUID

from apps.core import clock
from apps.core.rows import Job
from apps.ledger.selectors import booked_deposits, payment_split
from apps.payments import states
from apps.payments.documents.reconciliation import UNDER_INVESTIGATION
from apps.payments.models import LateDeposit, Payment, ReconciliationTask, TransferReturn
from apps.payments.net import keep_net
from apps.payments.selectors import Received, received_by

FINAL = "final"
DISPUTED = "disputed"
CLOSED = "closed"
JOB = Job("payments.reconcile", limit=200)
_DEPOSIT = ("deposit__tx_hash", "deposit__log_index", "deposit__asset_id", "deposit__amount_atomic")


def reconcile_due() -> int:
    """The sweep: check every intent that changed since its last check; how many there were."""
    # By the few that wait alone: joined to all there are, these may be read from end to end.
    due = ReconciliationTask.objects.filter(is_due=True).order_by("payment_id")
    return JOB.walk(due.values_list("payment_id", flat=True), reconcile)


def reconcile(payment_id: UUID) -> str:
    """Check one intent and keep the result; staff's `closed` stays while the figures agree with
    what they closed.

    One that is still on its way isn't due before it changes, which makes it due again: it keeps
    nobody else waiting.
    """
    # Anyone who changes what it brought holds this lock too, so that what is kept here is what the
    # books say.
    locked = Payment.objects.select_for_update(no_key=True, of=("self",))
    payment = locked.select_related("store").get(pk=payment_id)
    at = clock.now(payment.store, payment.mode)
    received = received_by(payment)
    status = _verdict(payment, received)
    if payment.reconciliation_status == CLOSED and status == DISPUTED:
        status = CLOSED
    Payment.objects.filter(pk=payment.pk).update(
        reconciliation_status=status, reconciled_at=at, reconciliation_due=False
    )
    if payment.completed_at is not None:
        keep_net(payment)
    return status


def _verdict(payment: Payment, received: list[Received]) -> str:
    if payment.status not in states.TERMINAL or any(
        intake.unconfirmed_atomic for intake in received
    ):
        return UNDER_INVESTIGATION
    return FINAL if is_balanced(payment, received) else DISPUTED


def is_balanced(payment: Payment, received: list[Received]) -> bool:
    """Confirmed deposits are booked to the unit, and a settled intent's shares add up to them."""
    booked = booked_deposits(payment.pk)
    accepted, returned = _claimed(payment, received)
    for intake in received:
        confirmed = sum(
            deposit.amount_atomic
            for deposit in intake.deposits
            if deposit.status == deposit.Status.CONFIRMED
        )
        if (
            booked.get(intake.address.asset_id, 0)
            - accepted[intake.address.asset_id]
            - returned[intake.address.asset_id]
            != confirmed
        ):
            return False
    if payment.completed_at is None:
        return True
    splits = payment_split([payment.pk]).get(payment.pk, {})
    return all(
        (splits[intake.address.asset_id].gross_atomic if intake.address.asset_id in splits else 0)
        - accepted[intake.address.asset_id]
        == intake.on_time_atomic + _accepted_here(intake)
        for intake in received
    )


def _accepted_here(intake: Received) -> int:
    """Amount that came late to the address itself, and was accepted."""
    return sum(
        deposit.amount_atomic
        for deposit in intake.deposits
        if deposit.status == deposit.Status.CONFIRMED
        and deposit.pk in intake.late
        and intake.late[deposit.pk].accepted_at is not None
    )


def _claimed(payment: Payment, received: list[Received]) -> tuple[Counter[str], Counter[str]]:
    """Per asset what unmatched transfers brought that were accepted on this payment, and that were
    sent back from it."""
    own = {deposit.pk for intake in received for deposit in intake.deposits}
    accepted = Counter[str]()
    returned = Counter[str]()
    late = LateDeposit.objects.filter(payment=payment, accepted_at__isnull=False).exclude(
        deposit__in=own
    )
    claims = set()
    for tx_hash, index, asset_id, amount in late.values_list(*_DEPOSIT):
        claims.add((tx_hash, index))
        accepted[asset_id] += amount
    returns = (
        TransferReturn.objects.filter(payment=payment).order_by("transfer").distinct("transfer")
    )
    for tx_hash, index, asset_id, amount in returns.values_list(
        "transfer__tx_hash", "transfer__log_index", "asset_id", "amount_atomic"
    ):
        if (tx_hash, index) not in claims:
            returned[asset_id] += amount
    return accepted, returned
