"""What an intent was for is gone: it expires before its time, unless money has come or is on its way through a card provider."""

from datetime import datetime

from django.db import transaction

from apps.payments import events, states
from apps.payments.models import Payment
from apps.payments.services.settle import settle_locked


def withdraw(payment_id: object, at: datetime) -> Payment:
    """The intent as it stands afterwards: expired if it was waiting for its first deposit, else what its deposits say."""
    with transaction.atomic():
        payment: Payment = Payment.objects.select_for_update(of=("self",)).select_related("store").get(pk=payment_id)
        settle_locked(payment, at)
        if payment.status != states.PENDING or payment.deadline > max(payment.expires_at, at):
            return payment
        states.MACHINE.move(payment, states.EXPIRED, state_reason=states.EXPIRED_TIMEOUT, updated_at=at, reconciliation_due=True)
        reason = {"state_reason": states.EXPIRED_TIMEOUT}
        events.record(payment, states.EVENTS[states.EXPIRED], states.PENDING, states.EXPIRED, at, payload=reason)
        return payment
