"""Net figures: kept by payment at its reconciliation, exact at any moment, and read by an index
however many payments there are."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from apps.audit.grants import WEB
from apps.core.days import Days
from apps.core.db import tenancy
from apps.payments.models import Payment, PaymentNet
from apps.payments.net import _NET, kept_net_cents, net_cents
from apps.payments.services.reconcile import reconcile_due
from tests import make
from tests.cast import Cast, Shop
from tests.dashboard.test_search import month_of_payments
from tests.roles import acting_as

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


def test_twenty_thousand_payments_are_added_up_without_the_ledger(cast: Cast) -> None:
    first = month_of_payments(cast, reconciliation_due="false")
    Payment.objects.filter(pk=first.pk).update(reconciliation_due=False)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO payments_paymentnet (payment_id, store_id, mode, created_at, net_cents)"
            " SELECT id, store_id, mode, created_at, 990 FROM payments_payment WHERE completed_at"
            " IS NOT NULL"
        )
        cursor.execute("ANALYZE payments_paymentnet, payments_payment")
    with acting_as(WEB), tenancy.within(tenancy.of([cast.bakery.store], ["test"])):
        found = net(cast.bakery)
        now, before = ranges(cast.bakery)
        viewer = cast.bakery.access()
        asked = {
            "store_id": viewer.store_id,
            "mode": viewer.mode,
            "currency": "EUR",
            "begin": now.begin,
            "end": now.end,
        }
        asked |= {"begin_before": before.begin, "end_before": before.end}
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {_NET._with_values}", asked)
            answer: Any = cursor.fetchone()[0]
        (told,) = json.loads(answer) if isinstance(answer, str) else answer
    assert (
        sum(found)
        == 990 * Payment.objects.exclude(completed_at=None).filter(store=cast.bakery.store).count()
    )
    assert told["Execution Time"] < 1_000, told  # 40 ms where nobody else is at work
    assert told["Plan"]["Shared Hit Blocks"] + told["Plan"]["Shared Read Blocks"] < 5_000, told
