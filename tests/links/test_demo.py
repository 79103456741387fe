"""The demo shows links of both kinds and a sale, and is seeded once."""

from apps.links.models import LinkPayment, PaymentLink
from apps.payments.models import Payment
from dev.demo.links import seed_links
from tests.cast import Cast


def test_the_demo_has_an_open_amount_and_a_stock_once(cast: Cast) -> None:
    for _ in range(2):
        seed_links(cast.bakery.store, cast.alice)
    assert sorted(payment_link.stock or 0 for payment_link in PaymentLink.objects.all()) == [0, 8]
    assert LinkPayment.objects.count() == 6
    assert (
        set(Payment.objects.values_list("status", flat=True)) == {"completed"}
        and Payment.objects.count() == 7
    )
