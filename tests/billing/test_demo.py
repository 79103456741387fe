"""The demo shows billing in every state, and is seeded once."""

from apps.billing.models import Invoice, Subscription
from dev.demo.billing import seed_billing
from tests.cast import Cast


def test_the_demo_has_subscriptions_and_invoices_of_every_status_once(cast: Cast) -> None:
    for _ in range(2):
        seed_billing(cast.bakery.store, cast.alice)
    assert set(Invoice.objects.values_list("status", flat=True)) == set(Invoice.Status.values)
    statuses = sorted(
        Subscription.objects.filter(store=cast.bakery.store).values_list("status", flat=True)
    )
    assert statuses == ["active", "paused", "trialing"]
