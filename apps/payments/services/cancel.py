"""An agent calls off its own intent: only while nothing has arrived."""

from django.db import transaction

from apps.core import clock
from apps.core.errors import Coded
from apps.payments import states
from apps.payments.models import Payment
from apps.payments.services.change_status import change_status
from apps.payments.services.settle import settle_locked


class NotCancelable(Coded):
    code = "not_cancelable"
    message = "Only a pending payment can be canceled"


def cancel_payment(payment: Payment) -> Payment:
    """The intent, expired as canceled by its agent. Raises NotCancelable, also when its deadline has just passed."""
    with transaction.atomic():
        locked = Payment.objects.select_for_update(of=("self",)).select_related("store").get(pk=payment.pk)
        at = clock.now(locked.store, locked.mode)
        locked = settle_locked(locked, at)
        if locked.status != states.PENDING:
            raise NotCancelable
        change_status(locked, states.Decision(states.EXPIRED, states.CANCELED_BY_AGENT, states.CANCELED_EVENT), at=at)
    return locked
