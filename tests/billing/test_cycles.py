"""What time does to a subscription, on the test clock."""

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
    assert (made["status"], bill["status"], bill["total_cents"], bill["number"]) == ("active", "open", 1000, 1)
    assert bill["period_key"] == f"{made['id']}:{made['current_period_start']}"


def test_a_trial_ends_in_active_with_the_first_invoice(bakery: Shop) -> None:
    made = r.subscribe(bakery.test, trial_period_days=14)
    assert made["status"] == "trialing"
    assert made["trial_end"] == made["next_billing_at"] == made["current_period_end"]
    make.advance(bakery.test, 14 * DAY - 60)
    assert (state(bakery, made), r.invoices_of(bakery.test, made["id"])) == (("trialing", 0), [])
    make.advance(bakery.test, 120)
    now, [bill] = r.subscription(bakery.test, made["id"]), r.invoices_of(bakery.test, made["id"])
    assert (now["status"], now["current_period_start"], bill["status"]) == ("active", made["trial_end"], "open")


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
