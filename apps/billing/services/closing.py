"""Billing records that must end before a store closes."""

from apps.billing.models import Subscription
from apps.billing.states import CANCELED
from apps.core.models import Mode
from apps.stores.models import Store


def closing_blockers(store: Store) -> dict[str, int]:
    """Subscriptions of either mode would go on asking customers for money."""
    rows = Subscription.objects.filter(store=store).exclude(status=CANCELED)
    return {
        "subscription": rows.filter(mode=Mode.LIVE).count(),
        "test_subscription": rows.filter(mode=Mode.TEST).count(),
    }
