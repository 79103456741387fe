"""Coins that somebody has named on a payment and that went to a token's own contract: nobody can
return them, and no chain tells which payment they were meant for."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.payments import states
from apps.payments.models import Payment, PaymentEvent

LOST_EVENT = "payment.coins_lost"  # in the payment's history only, once
# Anyone who has paid needs to know no more of it.
_PAID = (states.COMPLETED, states.REFUNDED)


@dataclass(frozen=True)
class LostCoins:
    """The transaction that was named, and its chain's name."""

    tx_hash: str
    chain: str


def lost_coins_of(payment: Payment) -> LostCoins | None:
    """The lost coins to show on a payment that isn't paid; one statement."""
    return lost_coins_in(
        payment, PaymentEvent.objects.filter(payment=payment, event_type=LOST_EVENT)
    )


def lost_coins_in(payment: Payment, history: Iterable[PaymentEvent]) -> LostCoins | None:
    """The lost coins in a history that has been read."""
    if payment.status in _PAID:
        return None
    payload = next((item.payload for item in history if item.event_type == LOST_EVENT), None)
    return None if payload is None else LostCoins(payload["tx_hash"], payload["chain_name"])
