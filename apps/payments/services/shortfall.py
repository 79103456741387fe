"""The merchant takes what has come for less than was due: an open payment completes with it; of one
that was rejected, what is still held is booked as accepted.

Anyone who comes second finds it done and changes nothing.
"""

from datetime import datetime

from django.db import transaction

from apps.access import operations
from apps.access.access import Access
from apps.assets.models import AcceptedAsset
from apps.chain.models import Deposit
from apps.core import clock
from apps.core.errors import Failure
from apps.ledger import movements
from apps.payments import states
from apps.payments.models import LateDeposit, Payment, PaymentEvent
from apps.payments.selectors import Received, is_shortfall_accepted, received_by
from apps.payments.services import held_refunds
from apps.payments.services.change_status import locked_payment
from apps.payments.services.hold import flag
from apps.payments.services.late import held_atomic, note_accepted
from apps.payments.services.settle import complete_short, settle_locked, shares
from apps.stores.auditing import audit


class NotShort(Failure):
    code = "not_underpaid"
    message = "Only an underpaid payment's shortfall can be accepted"


class StillConfirming(Failure):
    code = "deposit_unconfirmed"
    message = "Wait until everything that arrived has confirmed"


class AlreadyReturned(Failure):
    code = "already_returned"
    message = "What arrived has been returned or is on its way back"


class UnderReview(Failure):
    code = "asset_under_review"
    message = "An asset that was received is stopped for review"


def accept_shortfall(payment: Payment, *, by: Access) -> Payment:
    """The payment as it is then. Raises NotShort, StillConfirming, AlreadyReturned or
    UnderReview, or what operations.check refuses with."""
    operations.check(by, operations.SHORTFALL)
    with transaction.atomic():
        locked = locked_payment(payment.pk)
        at = clock.now(locked.store, locked.mode)
        locked = settle_locked(locked, at)
        if locked.state_reason == states.COMPLETED_UNDERPAID or is_shortfall_accepted(locked):
            return locked
        received = received_by(locked, is_locking=True)
        _check(locked, received)
        if locked.status == states.FAILED:
            _accept_held(locked, received, at)
        else:
            complete_short(locked, received, at)
        _note(locked, at)
    return locked


def can_accept_shortfall(payment: Payment, received: list[Received]) -> bool:
    """Something can be accepted, as a page shows it."""
    try:
        _check(payment, received)
    except Failure:
        return False
    return not is_shortfall_accepted(payment)


def _check(payment: Payment, received: list[Received]) -> None:
    is_open = payment.state_reason == states.PROCESSING_UNDERPAID
    is_rejected = payment.state_reason == states.FAILED_UNDERPAID
    if payment.status not in (states.PROCESSING, states.FAILED) or not (is_open or is_rejected):
        raise NotShort
    if any(intake.unconfirmed_atomic for intake in received):
        raise StillConfirming
    brought = [intake for intake in received if intake.confirmed_atomic]
    if not brought:
        raise NotShort
    if is_rejected and not all(
        held_atomic(payment, intake.address.asset_id) >= intake.on_time_atomic for intake in brought
    ):
        raise AlreadyReturned
    stopped = AcceptedAsset.objects.filter(
        store_id=payment.store_id,
        mode=payment.mode,
        suspended_at__isnull=False,
        asset__in=[intake.address.asset_id for intake in brought],
    )
    if stopped.exists():
        raise UnderReview


def _accept_held(payment: Payment, received: list[Received], at: datetime) -> None:
    """Each deposit that came in time, as one that came late is accepted: the status stays."""
    of_payment = {"payment": payment, "store_id": payment.store_id, "mode": payment.mode}
    for intake in received:
        for deposit in intake.on_time:
            if deposit.status != Deposit.Status.CONFIRMED:
                continue
            LateDeposit.objects.create(
                deposit=deposit,
                **of_payment,
                created_at=at,
                accepted_at=at,
                is_late=False,
                is_counted=True,
            )
            details = shares(payment, deposit.asset_id, deposit.amount_atomic, is_own=intake.is_own)
            movements.late_deposit_accepted(deposit_id=deposit.pk, **details, at=at)
            deposit.asset = intake.address.asset
            note_accepted(payment, deposit, at)
    held_refunds.take_over(payment, at)
    if payment.needs_attention:
        flag(payment, "")


def _note(payment: Payment, at: datetime) -> None:
    PaymentEvent.objects.create(
        payment=payment,
        event_type=states.SHORTFALL_ACCEPTED,
        from_status=payment.status,
        to_status=payment.status,
        payload={},
        created_at=at,
    )
    audit.record(
        states.SHORTFALL_ACCEPTED,
        store=payment.store_id,
        mode=payment.mode,
        target=payment,
        name=payment.reference,
    )
