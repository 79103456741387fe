"""transaction.* of an intent: when a deposit is seen, confirmed or lost, each recorded once;
confirmed once more when the merchant accepts one that came late or in another coin."""

from collections.abc import Iterable
from datetime import datetime

from apps.chain.models import Deposit
from apps.core.clock import iso
from apps.payments import events, states
from apps.payments.documents.deposits import (
    ReceivedDeposit,
    arrivals,
    heads_for,
    transaction_document,
)
from apps.payments.models import Payment, PaymentEvent
from apps.payments.selectors import received_by

CONFIRMING = "transaction.confirming"
CONFIRMED = "transaction.confirmed"
FAILED = "transaction.failed"
KINDS = {
    Deposit.Status.CONFIRMING: (CONFIRMING,),
    Deposit.Status.CONFIRMED: (CONFIRMING, CONFIRMED),
    Deposit.Status.FAILED: (FAILED,),
}


def announced(payment: Payment, deposit: Deposit) -> list[str]:
    """Types of the events about a deposit, in their order."""
    past = PaymentEvent.objects.filter(payment=payment, payload__deposit_id=str(deposit.pk))
    return list(past.order_by("sequence").values_list("event_type", flat=True))


def tell(
    payment: Payment,
    arrival: ReceivedDeposit,
    kinds: Iterable[str],
    before: str,
    after: states.PaymentDecision,
    at: datetime,
) -> None:
    """Those of these kinds that weren't recorded yet; lost again when it was confirmed in
    between."""
    deposit = arrival.deposit
    past = announced(payment, deposit) if deposit.handled_status else []
    for kind in kinds:
        is_lost_again = kind == FAILED and past[-1:] != [kind]
        if kind not in past or is_lost_again:
            _record(payment, kind, arrival, before, after, at)


def tell_unchanged(
    payment: Payment, arrival: ReceivedDeposit, kinds: Iterable[str], at: datetime
) -> None:
    """Tell of a deposit that moves its intent nowhere."""
    stays = states.PaymentDecision(payment.status, payment.state_reason)
    tell(payment, arrival, kinds, payment.status, stays, at)


def tell_accepted(payment: Payment, deposit: Deposit, at: datetime) -> None:
    """The merchant has accepted it for this intent: confirmed once more, with when."""
    every = arrivals(payment, received_by(payment), [deposit])
    arrival = next(arrival for arrival in every if arrival.deposit.pk == deposit.pk)
    stays = states.PaymentDecision(payment.status, payment.state_reason)
    _record(payment, CONFIRMED, arrival, payment.status, stays, at)


def _record(
    payment: Payment,
    kind: str,
    arrival: ReceivedDeposit,
    before: str,
    after: states.PaymentDecision,
    at: datetime,
) -> None:
    deposit = arrival.deposit
    payload = {
        "deposit_id": str(deposit.pk),
        "tx_hash": deposit.tx_hash,
        "amount_atomic": str(deposit.amount_atomic),
    }
    if arrival.accepted_at is not None:
        payload["accepted_at"] = iso(arrival.accepted_at)
    body = transaction_document(arrival, heads_for([deposit]))
    events.record(payment, kind, before, after, at, payload=payload, transaction=body)
