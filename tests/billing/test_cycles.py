"""Cycles of a subscription as time passes on the test clock."""

from datetime import datetime, timedelta

from django.db import transaction

from apps.billing.models import Invoice, Subscription
from apps.billing.selectors import with_parts
from apps.billing.subscriptions.cycle import run_cycles
from apps.billing.subscriptions.locking import locked_if_free
from apps.core import clock
from apps.stores.models import Store
from tests import make
from tests.billing import records as r
from tests.billing.records import DAY
from tests.cast import Shop


def state(shop: Shop, made: dict[str, object]) -> tuple[str, int]:
    now = r.subscription(shop.test, str(made["id"]))
    return now["status"], now["failed_cycle_count"]


def test_a_subscription_begins_with_its_first_invoice(bakery: Shop) -> None:
    made = r.subscribe(bakery.test)
    [bill] = r.invoices_of(bakery.test, made["id"])
    assert (made["status"], bill["status"], bill["total_cents"], bill["number"]) == (
        "active",
        "open",
        1000,
        1,
    )
    assert bill["period_key"] == f"{made['id']}:{made['current_period_start']}"


def test_a_trial_ends_in_active_with_the_first_invoice(bakery: Shop) -> None:
    made = r.subscribe(bakery.test, trial_period_days=14)
    assert made["status"] == "trialing"
    assert made["trial_end"] == made["next_billing_at"] == made["current_period_end"]
    make.advance(bakery.test, 14 * DAY - 60)
    assert (state(bakery, made), r.invoices_of(bakery.test, made["id"])) == (("trialing", 0), [])
    make.advance(bakery.test, 120)
    now, [bill] = r.subscription(bakery.test, made["id"]), r.invoices_of(bakery.test, made["id"])
    assert (now["status"], now["current_period_start"], bill["status"]) == (
        "active",
        made["trial_end"],
        "open",
    )


def test_an_unpaid_invoice_makes_it_past_due_once_and_beyond_grace_cancels_it(bakery: Shop) -> None:
    made = r.subscribe(bakery.test)
    make.advance(bakery.test, 7 * DAY - 60)
    assert state(bakery, made) == ("active", 0)
    make.advance(bakery.test, 120)
    assert state(bakery, made) == ("past_due", 1)
    make.advance(bakery.test, 5 * DAY)
    assert state(bakery, made) == ("past_due", 1)
    make.advance(bakery.test, 31 * DAY)
    assert state(bakery, made) == ("canceled", 2)
    make.advance(bakery.test, 90 * DAY)
    assert len(r.invoices_of(bakery.test, made["id"])) == 2


def test_paying_every_open_invoice_makes_it_active_again(bakery: Shop) -> None:
    made = r.subscribe(bakery.test, grace_cycles=5)
    make.advance(bakery.test, 40 * DAY)
    assert state(bakery, made) == ("past_due", 2)
    first, second = r.invoices_of(bakery.test, made["id"])
    assert r.pay(bakery.test, first)["status"] == "paid"
    assert state(bakery, made) == ("past_due", 2)
    r.pay(bakery.test, second)
    assert state(bakery, made) == ("active", 0)


def test_a_payment_that_no_sweep_has_seen_yet_is_in_time(bakery: Shop) -> None:
    made = r.subscribe(bakery.test)
    [bill] = r.invoices_of(bakery.test, made["id"])
    started = r.ok(r.start_payment(bill["public_token"]), 201)["payment"]
    make.simulated(bakery.test, started["payment_intent_id"])
    jump(bakery, 8)
    run_cycles()
    assert state(bakery, made) == ("active", 0)
    assert r.invoice(bakery.test, bill["id"])["status"] == "paid"


def jump(shop: Shop, days: int) -> None:
    """Time passes and nothing runs: an outage."""
    shop.store.refresh_from_db()
    Store.objects.filter(pk=shop.store.pk).update(
        test_offset_seconds=shop.store.test_offset_seconds + days * DAY
    )
    shop.store.refresh_from_db()


def test_after_an_outage_each_missed_cycle_is_billed_in_order_and_due_a_week_from_then(
    bakery: Shop,
) -> None:
    made = r.subscribe(bakery.test, price_id=r.price(bakery.test, interval="weekly")["id"])
    jump(bakery, 24)
    assert [run_cycles(), run_cycles()] == [1, 0]
    bills = r.invoices_of(bakery.test, made["id"])
    start = datetime.fromisoformat(made["current_period_start"])
    assert [bill["period_key"] for bill in bills] == [
        f"{made['id']}:{clock.iso(start + timedelta(weeks=n))}" for n in range(4)
    ]
    assert [bill["number"] for bill in bills] == [1, 2, 3, 4]
    now = clock.now(bakery.store, "test")
    assert all(
        abs(datetime.fromisoformat(bill["due_at"]) - now - timedelta(days=7)) < timedelta(minutes=5)
        for bill in bills[1:]
    )
    assert state(bakery, made) == ("past_due", 1)
    assert r.subscription(bakery.test, made["id"])["next_billing_at"] == clock.iso(
        start + timedelta(weeks=4)
    )


def test_monthly_cycles_keep_the_thirty_first(bakery: Shop) -> None:
    r.ok(bakery.test.post("/test_clock/advance", {"to": "2027-01-31T10:00:00Z"}))
    made = r.subscribe(bakery.test, price_id=r.price(bakery.test, unit_amount_cents=0)["id"])
    make.advance(bakery.test, 152 * DAY)
    days = [
        item["period_key"].partition(":")[2][:10] for item in r.invoices_of(bakery.test, made["id"])
    ]
    assert days == [
        "2027-01-31",
        "2027-02-28",
        "2027-03-31",
        "2027-04-30",
        "2027-05-31",
        "2027-06-30",
    ]


def test_a_store_that_is_gone_bills_nobody(bakery: Shop) -> None:
    made = r.subscribe(bakery.test, trial_period_days=1)
    jump(bakery, 3)
    Store.objects.filter(pk=bakery.store.pk).update(deleted_at=clock.real_now())
    assert run_cycles() == 0
    assert not Invoice.objects.filter(subscription_id=made["id"]).exists()


def test_a_subscription_that_cannot_be_billed_holds_up_no_other(bakery: Shop) -> None:
    broken = r.subscribe(bakery.test, trial_period_days=1)
    fine = r.subscribe(bakery.test, trial_period_days=2)
    Invoice.objects.create(
        store=bakery.store,
        mode="test",
        customer_id=broken["customer_id"],
        currency="EUR",
        created_at=clock.real_now(),
        updated_at=clock.real_now(),
        subscription_id=broken["id"],
        period_key=f"{broken['id']}:{broken['trial_end']}",
    )
    jump(bakery, 3)
    run_cycles()
    assert (state(bakery, broken)[0], state(bakery, fine)[0]) == ("trialing", "active")


def test_what_changed_after_its_batch_was_read_is_billed_as_it_is_then(bakery: Shop) -> None:
    made = r.subscribe(bakery.test)
    known = with_parts(Subscription.objects.all()).get(pk=made["id"])
    with transaction.atomic():
        assert locked_if_free(known) is known
    r.ok(
        bakery.test.patch(f"/billing/subscriptions/{made['id']}", {"subscription": {"quantity": 3}})
    )
    with transaction.atomic():
        found = locked_if_free(known)
    assert found is not None and found is not known and found.quantity == 3
