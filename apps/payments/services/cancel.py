"""An intent is called off before anything has arrived: by the agent that made it, or by the
merchant."""

from django.db import transaction

from apps.core import clock
from apps.core.errors import Failure
from apps.payments import states
from apps.payments.models import Payment
from apps.payments.services.change_status import change_status, locked_payment
from apps.payments.services.looks import Untold, look_now
from apps.payments.services.settle import settle_locked
from apps.stores.auditing import audit

CANCELED = "payment.canceled"


class NotCancelable(Failure):
    code = "not_cancelable"
    message = "Only a pending payment can be canceled"


class CoinsFound(NotCancelable):
    message = "Coins have arrived at an address of this payment; they are being looked up"


class NetworkSilent(NotCancelable):
    message = "A network of this payment can't be read right now. Try again in a few minutes"


def cancel_payment(payment: Payment) -> Payment:
    """The intent, expired as canceled by its agent. Raises NotCancelable, also when its deadline
    has just passed. Not inside a transaction: the chains are asked."""
    _check_nothing_came(payment)
    with transaction.atomic():
        return _end(
            payment,
            states.PaymentDecision(states.EXPIRED, states.CANCELED_BY_AGENT, states.CANCELED_EVENT),
        )


def cancel_for_merchant(payment: Payment) -> Payment:
    """The intent, expired before its time: that a merchant did it is in the audit log (decision
    211). Raises NotCancelable. Not inside a transaction."""
    _check_nothing_came(payment)
    with transaction.atomic():
        ended = _end(
            payment,
            states.PaymentDecision(
                states.EXPIRED, states.EXPIRED_TIMEOUT, states.EVENTS[states.EXPIRED]
            ),
        )
        if ended.deadline != ended.expires_at:  # a card was charged: its coins are on their way
            raise NotCancelable
        audit.record(
            CANCELED, store=ended.store_id, mode=ended.mode, target=ended, name=ended.reference
        )
        return ended


def is_cancelable(payment: Payment) -> bool:
    """Nothing has come, and nothing is on its way through a card provider."""
    return payment.status == states.PENDING and payment.deadline == payment.expires_at


def _check_nothing_came(payment: Payment) -> None:
    """Ask the addresses themselves for what the watcher hasn't found yet."""
    if payment.status != states.PENDING:
        return  # refused for that below
    untold = look_now(payment)
    if untold != Untold.NOTHING:
        raise CoinsFound if untold == Untold.COINS else NetworkSilent


def _end(payment: Payment, decision: states.PaymentDecision) -> Payment:
    locked = locked_payment(payment.pk)
    at = clock.now(locked.store, locked.mode)
    locked = settle_locked(locked, at)
    if locked.status != states.PENDING:
        raise NotCancelable
    change_status(locked, decision, at=at)
    return locked
