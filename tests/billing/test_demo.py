"""The demo shows billing in every state, and is seeded once."""

from apps.billing.invoices.e_invoice import refusal
from apps.billing.models import Invoice, Subscription
from dev.demo.billing import seed_billing
from tests.cast import Cast


def test_the_demo_has_subscriptions_and_invoices_of_every_status_once(cast: Cast) -> None:
    for _ in range(2):
        seed_billing(cast.bakery.store, cast.alice)
    assert set(Invoice.objects.values_list("status", flat=True)) == set(Invoice.Status.values)
    finalized = Invoice.objects.select_related("store", "customer").exclude(number=None)
    refusals = [refusal(invoice) for invoice in finalized.exclude(status="void")]
    assert refusals == [""] * 5, "each is an e-invoice"
    statuses = sorted(
        Subscription.objects.filter(store=cast.bakery.store).values_list("status", flat=True)
    )
    assert statuses == ["active", "paused", "trialing"]
