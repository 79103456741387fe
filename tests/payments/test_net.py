"""Net figures: kept by payment at its reconciliation, exact at any moment; among many payments in
test_among_many.py."""

from datetime import timedelta

import pytest

from apps.core.text.days import Days
from apps.payments.models import Payment, PaymentNet
from apps.payments.net import kept_net_cents, net_cents
from apps.payments.services.reconcile import reconcile_due
from tests import make
from tests.cast import Shop

pytestmark = pytest.mark.django_db


def ranges(shop: Shop) -> tuple[Days, Days]:
    today = shop.access().now().date()
    return Days(today - timedelta(days=29), today), Days(
        today - timedelta(days=59), today - timedelta(days=30)
    )


def net(shop: Shop) -> tuple[int, int]:
    """By the sums as payment by payment."""
    by_rows = net_cents(shop.access(), "EUR", *ranges(shop))
    assert kept_net_cents(shop.access(), "EUR", *ranges(shop)) in (by_rows, None)
    return by_rows


def test_what_is_kept_is_what_the_ledger_says_and_a_change_is_told_at_once(bakery: Shop) -> None:
    made = [make.paid(bakery.test, amount=amount)["id"] for amount in ("10.00", "24.50")]
    live = net(bakery)
    assert 3400 < live[0] < 3450 and live[1] == 0
    assert kept_net_cents(bakery.access(), "EUR", *ranges(bakery)) == live
    Payment.objects.filter(pk=made[0]).update(reconciliation_due=False)
    assert kept_net_cents(bakery.access(), "EUR", *ranges(bakery)) is None
    assert net(bakery) == live
    Payment.objects.filter(pk=made[0]).update(reconciliation_due=True)
    reconcile_due()
    assert PaymentNet.objects.count() == 2 and net(bakery) == live
    kept = PaymentNet.objects.get(payment=made[0]).net_cents
    PaymentNet.objects.filter(payment=made[0]).update(net_cents=1)
    assert net(bakery) == (live[0] - kept + 1, 0), "it is read where it is kept"
    make.store_coins(bakery.store, "SETH", 10**18)
    bakery.test.post(f"/payments/{made[0]}/refunds", {}, key="back")
    make.advance(bakery.test, 200)
    assert net(bakery) == (live[0] - 1000, 0), "what is due is asked of the ledger"
    reconcile_due()
    assert net(bakery) == (live[0] - 1000, 0)
    assert PaymentNet.objects.get(payment=made[0]).net_cents == -10
