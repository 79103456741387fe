"""Coming events of a subscription in the order of time: shown to people, decided elsewhere."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.billing.models import Subscription
from apps.billing.states import CycleStep, SubscriptionFacts, ahead, is_beyond_grace
from apps.billing.subscriptions.locking import facts_for_people


@dataclass(frozen=True)
class UpcomingCycle:
    """`is_last`: a failure that would end the subscription."""

    at: datetime
    step: CycleStep
    amount_cents: int
    is_last: bool


def upcoming_cycles(subscription: Subscription) -> list[UpcomingCycle]:
    """The row comes with its price and add-ons."""
    return upcoming_of_all([subscription])[subscription.pk]


def upcoming_of_all(subscriptions: Sequence[Subscription]) -> dict[uuid.UUID, list[UpcomingCycle]]:
    """Coming events of several subscriptions, by ID."""
    facts = facts_for_people(subscriptions)
    return {row.pk: _coming(row, facts[row.pk]) for row in subscriptions}


def _coming(subscription: Subscription, facts: SubscriptionFacts) -> list[UpcomingCycle]:
    is_last = is_beyond_grace(subscription.failed_cycle_count + 1, subscription.grace_cycles)
    amount = cycle_cents(subscription)
    return [UpcomingCycle(at, step, amount, is_last) for at, step in ahead(facts)]


def cycle_cents(subscription: Subscription) -> int:
    """Price of a cycle at the prices of the next bill, in cents."""
    add_ons = sum(
        item.quantity * item.price.unit_amount_cents for item in subscription.add_ons.all()
    )
    return subscription.quantity * subscription.price.unit_amount_cents + add_ons
