"""The merchant accepts a deposit that came after the end of its payment: booked as if a payment of that amount had completed.

A deposit is accepted once; one that hasn't confirmed is not accepted.
"""

from datetime import datetime

from django.db import transaction

from apps.chain.models import Deposit
from apps.core.errors import Flat, NotFound
from apps.core.literal import is_uuid
from apps.ledger import movements
from apps.payments.models import LateDeposit, Payment, PaymentEvent
from apps.payments.services.settle import shares

ACCEPTED_EVENT = "late_deposit.accepted"  # told in the payment's history only


class NotConfirmed(Flat):
    message = "This deposit has not confirmed yet"


class AlreadyAccepted(Flat):
    message = "This deposit has already been accepted"


def late_deposit_of(payment: Payment, deposit_id: str) -> LateDeposit:
    """Raises NotFound."""
    found = (
        payment.late_deposits.select_related("deposit__asset__chain").filter(deposit_id=deposit_id).first() if is_uuid(deposit_id) else None
    )
    if found is None:
        raise NotFound
    return found


def accept_late_deposit(payment: Payment, deposit_id: str, at: datetime) -> LateDeposit:
    """Move the deposit from the held to the available balance, less fees. Raises NotFound, NotConfirmed or AlreadyAccepted."""
    with transaction.atomic():
        Payment.objects.select_for_update().get(pk=payment.pk)
        late = late_deposit_of(payment, deposit_id)
        if late.accepted_at is not None:
            raise AlreadyAccepted
        if late.deposit.status != Deposit.Status.CONFIRMED:
            raise NotConfirmed
        movements.late_deposit_accepted(
            deposit_id=late.deposit_id, **shares(payment, late.deposit.asset_id, late.deposit.amount_atomic), at=at
        )
        late.accepted_at = at
        late.save(update_fields=["accepted_at"])
        PaymentEvent.objects.create(
            payment=payment,
            event_type=ACCEPTED_EVENT,
            from_status=payment.status,
            to_status=payment.status,
            payload={"deposit_id": str(late.deposit_id), "amount_atomic": str(late.deposit.amount_atomic)},
            created_at=at,
        )
    return late
