"""Every event there is, and what it says: the 23 that anybody can subscribe to, and the platform's
own.

Payouts and fee sweeps can be subscribed to, as the contract says; nothing records them.
"""

from collections.abc import Mapping
from typing import Final

EVENTS: Final[Mapping[str, str]] = {
    "payment_intent.created": "A payment was created",
    "payment_intent.processing": "Coins arrived for a payment that isn't complete yet",
    "payment_intent.completed": "A payment was completed",
    "payment_intent.expired": "A payment expired",
    "payment_intent.failed": "A payment failed",
    "payment_intent.refunded": "A payment was refunded",
    "transaction.confirming": "A deposit was seen on its network",
    "transaction.confirmed": "A deposit has all of its confirmations",
    "transaction.failed": "A deposit was reverted or lost",
    "invoice.finalized": "An invoice was finalized",
    "invoice.paid": "An invoice was paid",
    "invoice.voided": "An invoice was voided",
    "subscription.created": "A subscription was created",
    "subscription.updated": "A subscription was updated",
    "subscription.past_due": "A subscription is past due",
    "subscription.canceled": "A subscription was canceled",
    "store.verification.approved": "A store's verification was approved",
    "store.verification.rejected": "A store's verification was rejected",
    "payout.created": "A payout was created (test deliveries only)",
    "payout.confirmed": "A payout was confirmed (test deliveries only)",
    "payout.failed": "A payout failed (test deliveries only)",
    "fee_sweep.confirmed": "A transfer of service fees was confirmed (test deliveries only)",
    "fee_sweep.failed": "A transfer of service fees failed (test deliveries only)",
    "store.deleted": "A sub-merchant's store was deleted",
}
# What events are about, where its name in the API isn't what people call it.
_EVENT_NOUNS: Final[Mapping[str, str]] = {
    "payment_intent": "payment",
    "store.verification": "business verification",
    "transaction": "deposit",
}
PLATFORM_ONLY = ("store.deleted",)
SUBSCRIBABLE = tuple(name for name in EVENTS if name not in PLATFORM_ONLY)
# What nothing records: an endpoint is sent one only as a test.
TEST_ONLY = tuple(name for name in EVENTS if name.startswith(("payout.", "fee_sweep.")))
TEST_ONLY_NOTE = " (test deliveries only)"
PAYMENT_EVENTS = tuple(name for name in EVENTS if name.startswith("payment_intent."))
PLATFORM_DEFAULT = PAYMENT_EVENTS
TEST_DEFAULT = "payment_intent.completed"
# What a platform also hears of its sub-merchants.
FANS_OUT = ("payment_intent.", "transaction.", "store.verification.", "store.deleted")


def open_to(is_platform: bool) -> tuple[str, ...]:
    """The events that a store's endpoints may name."""
    return tuple(EVENTS) if is_platform else SUBSCRIBABLE


def family_of(event_type: str) -> str:
    """What events with one kind of object have in common: `store.verification` of
    `store.verification.approved`."""
    return event_type.rpartition(".")[0]


def event_title(event_type: str) -> str:
    """As people say it: `payment_intent.completed` is `Payment completed`."""
    noun, _, done = event_type.rpartition(".")
    text = f"{_EVENT_NOUNS.get(noun, noun.replace('_', ' '))} {done.replace('_', ' ')}"
    return text[:1].upper() + text[1:]
