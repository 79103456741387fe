"""Withdrawal of an intent whose purpose is gone: it expires before its time, unless money has come
or is on its way through a card provider."""

from datetime import datetime

from django.db import transaction

from apps.payments import states
from apps.payments.models import Payment
from apps.payments.services.change_status import change_status, locked_payment
from apps.payments.services.settle import settle_locked


def withdraw(payment_id: object, at: datetime) -> Payment:
    """The intent as it is afterwards: expired if it was waiting for its first deposit, else
    what its deposits say."""
    with transaction.atomic():
        payment = locked_payment(payment_id)
        settle_locked(payment, at)
        if payment.status != states.PENDING or payment.deadline > max(payment.expires_at, at):
            return payment
        change_status(
            payment,
            states.PaymentDecision(
                states.EXPIRED, states.EXPIRED_TIMEOUT, states.EVENTS[states.EXPIRED]
            ),
            at=at,
        )
        return payment
