"""The merchant accepts a deposit that came after the end of its payment: booked as if a payment of
that amount had completed.

A deposit is accepted once; one that hasn't confirmed is not accepted.
"""

from datetime import datetime

from django.db import transaction

from apps.access import operations
from apps.access.access import Access
from apps.chain.models import Deposit
from apps.chain.networks.families import stored
from apps.core import jobs
from apps.core.errors import Failure, NotFound
from apps.core.messages.fields import is_uuid
from apps.ledger import movements
from apps.payments import states
from apps.payments.models import LateDeposit, Payment, PaymentEvent, Refund
from apps.payments.selectors import received_by
from apps.payments.services import deposit_events, held_refunds
from apps.payments.services.change_status import locked_payment
from apps.payments.services.refund_shares import LIVE_STATUSES, owed_from_held
from apps.payments.services.settle import settle_locked, shares
from apps.stores.auditing import audit

ACCEPTED_EVENT = "late_deposit.accepted"  # in the payment's history only


class NotConfirmed(Failure):
    message = "This deposit has not confirmed yet"


class DepositSentBack(Failure):
    message = "This deposit has been sent back or is on its way back"


class AlreadyAccepted(Failure):
    message = "This deposit has already been accepted"


def late_deposit_of(payment: Payment, deposit_id: str) -> LateDeposit:
    """Raises NotFound."""
    late = (
        payment.late_deposits.select_related("deposit__asset__chain")
        .filter(deposit_id=deposit_id)
        .first()
        if is_uuid(deposit_id)
        else None
    )
    if late is None:
        raise NotFound
    return late


def held_atomic(payment: Payment, asset_id: str) -> int:
    """Amount of an asset held for an ended intent: income that was never settled, less returns."""
    intake = next(
        (intake for intake in received_by(payment) if intake.address.asset_id == asset_id), None
    )
    if intake is None:
        return 0
    waiting = set(
        payment.late_deposits.filter(accepted_at=None).values_list("deposit_id", flat=True)
    )
    confirmed = [
        deposit for deposit in intake.deposits if deposit.status == Deposit.Status.CONFIRMED
    ]
    late: int = sum(deposit.amount_atomic for deposit in confirmed if deposit.pk in waiting)
    unsettled = intake.on_time_atomic if payment.completed_at is None else 0
    back = Refund.objects.filter(
        payment=payment, asset_id=asset_id, is_from_held=True, status__in=LIVE_STATUSES
    )
    returned: int = sum(back.values_list("amount_atomic", flat=True))
    return late + unsettled - returned


def _is_own(payment: Payment, deposit: Deposit) -> bool:
    """Tell whether it came to the merchant's own wallet."""
    rows = payment.addresses.filter(address=deposit.address_id, own_wallet__isnull=False)
    return rows.exists()


def accept_late_deposit(
    payment: Payment, deposit_id: str, at: datetime, *, by: Access | None = None
) -> LateDeposit:
    """Move the deposit from the held to the available balance, less fees. Raises Failure."""
    operations.check(by, operations.LATE_DEPOSIT)
    with transaction.atomic():
        payment = locked_payment(payment.pk)
        late = late_deposit_of(payment, deposit_id)
        if late.accepted_at is not None:
            raise AlreadyAccepted
        if late.deposit.status != Deposit.Status.CONFIRMED:
            raise NotConfirmed
        if held_atomic(payment, late.deposit.asset_id) < late.deposit.amount_atomic:
            raise DepositSentBack
        sender = (late.deposit.asset_id, stored(late.deposit.from_address))
        if owed_from_held(payment).get(sender, 0) < late.deposit.amount_atomic:
            raise DepositSentBack  # what is still held came from others
        movements.late_deposit_accepted(
            deposit_id=late.deposit_id,
            **shares(
                payment,
                late.deposit.asset_id,
                late.deposit.amount_atomic,
                is_own=_is_own(payment, late.deposit),
            ),
            at=at,
        )
        late.accepted_at = at
        late.is_counted = payment.status not in states.TERMINAL
        late.save(update_fields=["accepted_at", "is_counted"])
        held_refunds.take_over(payment, at)
        details = {"asset": late.deposit.asset_id, "amount_atomic": str(late.deposit.amount_atomic)}
        audit.record(
            "late_deposit.accepted",
            store=payment.store_id,
            mode=payment.mode,
            target=payment,
            name=payment.reference,
            details=details,
        )
        note_accepted(payment, late.deposit, at)
    return late


def note_accepted(payment: Payment, deposit: Deposit, at: datetime) -> None:
    """In the payment's history, to anyone who subscribes, and to whom it may concern; an open
    payment goes where it brings it. What it has brought is compared with the books anew."""
    Payment.objects.filter(pk=payment.pk).update(reconciliation_due=True)
    PaymentEvent.objects.create(
        payment=payment,
        event_type=ACCEPTED_EVENT,
        from_status=payment.status,
        to_status=payment.status,
        payload={"deposit_id": str(deposit.pk), "amount_atomic": str(deposit.amount_atomic)},
        created_at=at,
    )
    deposit_events.tell_accepted(payment, deposit, at)
    if payment.status not in states.TERMINAL:
        settle_locked(payment, at)
    jobs.announce("payments.received_changed", payment.pk)
