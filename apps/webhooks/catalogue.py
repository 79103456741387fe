"""Every event there is: the 23 that anybody can subscribe to, the platform's own, and what a platform integration gets by default."""

PAYMENT_EVENTS = (
    "payment_intent.created",
    "payment_intent.processing",
    "payment_intent.completed",
    "payment_intent.expired",
    "payment_intent.failed",
    "payment_intent.refunded",
)
SUBSCRIBABLE = (
    *PAYMENT_EVENTS,
    "transaction.confirming",
    "transaction.confirmed",
    "transaction.failed",
    "invoice.finalized",
    "invoice.paid",
    "invoice.voided",
    "subscription.created",
    "subscription.updated",
    "subscription.past_due",
    "subscription.canceled",
    "store.verification.approved",
    "store.verification.rejected",
    "payout.created",
    "payout.confirmed",
    "payout.failed",
    "fee_sweep.confirmed",
    "fee_sweep.failed",
)
PLATFORM_ONLY = ("store.deleted",)
PLATFORM_DEFAULT = PAYMENT_EVENTS
TEST_DEFAULT = "payment_intent.completed"
# What a platform also hears of its sub-merchants.
FANS_OUT = ("payment_intent.", "transaction.", "store.verification.", "store.deleted")


def open_to(is_platform: bool) -> tuple[str, ...]:
    """The events that a store's endpoints may name."""
    return SUBSCRIBABLE + PLATFORM_ONLY if is_platform else SUBSCRIBABLE


def family_of(event_type: str) -> str:
    """What events with one kind of object have in common: `store.verification` of `store.verification.approved`."""
    return event_type.rpartition(".")[0]
