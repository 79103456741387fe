"""Every event there is, and what it says: the 23 of the contract that anybody can subscribe to,
what was added to them, and the platform's own.

Payouts and fee sweeps can be subscribed to, as the contract says; nothing records them.
"""

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_noop

EVENTS: Final[Mapping[str, str]] = {
    "payment_intent.created": gettext_noop("A payment was created"),
    "payment_intent.processing": gettext_noop("A payment is processing"),
    "payment_intent.completed": gettext_noop("A payment was completed"),
    "payment_intent.expired": gettext_noop("A payment expired"),
    "payment_intent.failed": gettext_noop("A payment failed"),
    "payment_intent.refunded": gettext_noop("A payment was refunded"),
    "transaction.confirming": gettext_noop("A deposit was seen on its network"),
    "transaction.confirmed": gettext_noop("A deposit has all of its confirmations"),
    "transaction.failed": gettext_noop("A deposit was reverted or lost"),
    "invoice.finalized": gettext_noop("An invoice was finalized"),
    "invoice.paid": gettext_noop("An invoice was paid"),
    "invoice.voided": gettext_noop("An invoice was voided"),
    "credit_note.created": gettext_noop("A credit note was created"),
    "refund.failed": gettext_noop("A refund failed, and its coins are back"),
    "subscription.created": gettext_noop("A subscription was created"),
    "subscription.updated": gettext_noop("A subscription was updated"),
    "subscription.past_due": gettext_noop("A subscription is past due"),
    "subscription.canceled": gettext_noop("A subscription was canceled"),
    "store.verification.approved": gettext_noop("A store's verification was approved"),
    "store.verification.rejected": gettext_noop("A store's verification was rejected"),
    "payout.created": gettext_noop("A payout was created (test deliveries only)"),
    "payout.confirmed": gettext_noop("A payout was confirmed (test deliveries only)"),
    "payout.failed": gettext_noop("A payout failed (test deliveries only)"),
    "fee_sweep.confirmed": gettext_noop(
        "A transfer of service fees was confirmed (test deliveries only)"
    ),
    "fee_sweep.failed": gettext_noop("A transfer of service fees failed (test deliveries only)"),
    "store.deleted": gettext_noop("A sub-merchant's store was deleted"),
}
# What events are about, where its name in the API isn't what people call it.
_EVENT_NOUNS: Final[Mapping[str, str]] = {
    "payment_intent": "payment",
    "store.verification": gettext_noop("business verification"),
    "transaction": "deposit",
}
PLATFORM_ONLY = ("store.deleted",)
# Subscribed to by name as the others; the list that an endpoint shows is the contract's.
ADDED = ("credit_note.created", "refund.failed")
SUBSCRIBABLE = tuple(name for name in EVENTS if name not in (*PLATFORM_ONLY, *ADDED))
# What nothing records: an endpoint is sent one only as a test.
TEST_ONLY = tuple(name for name in EVENTS if name.startswith(("payout.", "fee_sweep.")))
PAYMENT_EVENTS = tuple(name for name in EVENTS if name.startswith("payment_intent."))
PLATFORM_DEFAULT = PAYMENT_EVENTS
TEST_DEFAULT = "payment_intent.completed"
# What a platform also hears of its sub-merchants.
FANS_OUT = ("payment_intent.", "transaction.", "refund.", "store.verification.", "store.deleted")


def open_to(is_platform: bool) -> tuple[str, ...]:
    """The events that a store's endpoints may name."""
    return tuple(name for name in EVENTS if is_platform or name not in PLATFORM_ONLY)


def family_of(event_type: str) -> str:
    """Family of events with one kind of object: `store.verification` of
    `store.verification.approved`."""
    return event_type.rpartition(".")[0]


def event_title(event_type: str) -> str:
    """As people say it: `payment_intent.completed` is `Payment completed`."""
    noun, _, done = event_type.rpartition(".")
    text = f"{_EVENT_NOUNS.get(noun, noun.replace('_', ' '))} {done.replace('_', ' ')}"
    return text[:1].upper() + text[1:]
