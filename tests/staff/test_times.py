"""Times of a store whose test clock is ahead, on the staff site: the machine's comes first, and the
clock's is below it."""

from datetime import datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.utils.html import strip_tags

from apps.billing.models import Invoice
from apps.chain.models import Deposit
from apps.core import clock
from apps.core.ids import time_of
from apps.core.templatetags.tillgate import moment
from apps.ledger.models import Movement
from apps.payments.models import Payment
from apps.payouts.models import Payout
from apps.staff.front import home
from apps.staff.lists import worth
from apps.staff.system.jobs import monitor
from apps.stores.models import Store
from apps.webhooks.models import Delivery, Event
from tests import make
from tests.access.test_rights import HOOK
from tests.billing.records import opened
from tests.cast import Cast
from tests.dashboard.browse import Browser
from tests.staff.pages import reviewed, stray, words

AHEAD = 3 * 86_400
NOTE = "Other times are on the store’s test clock, 3 days ahead at the time"


@pytest.fixture
def ahead(cast: Cast) -> Cast:
    """The bakery's test clock is three days ahead."""
    Store.objects.filter(pk=cast.bakery.store.pk).update(test_offset_seconds=AHEAD)
    cast.bakery.store.refresh_from_db()
    return cast


def plain(at: datetime) -> str:
    return " ".join(strip_tags(moment(at)).split())


def both(row: Any) -> str:
    """As lists and records tell when a row was made."""
    real = time_of(row.pk)
    assert real is not None and row.created_at - real > timedelta(days=2)
    return f"{plain(real)} {plain(row.created_at)} by its test clock"


def test_a_row_of_a_test_clock_tells_both_times_in_its_list_and_on_its_page(
    ahead: Cast, finance: Browser
) -> None:
    api = ahead.bakery.test
    reviewed(ahead, 1)
    rows = {
        "payments/payment": Payment.objects.get(pk=make.payment(api)["id"]),
        "billing/invoice": Invoice.objects.get(pk=opened(api)["id"]),
        "payouts/payout": Payout.objects.get(),
    }
    for page, row in rows.items():
        assert both(row) in words(finance.get(f"/admin/{page}/")), page
        record = words(finance.get(f"/admin/{page}/{row.pk}/change/"))
        assert f"Created {both(row)}" in record and NOTE in record, page
    event = Event.objects.latest("created_at")
    told = words(finance.get(f"/admin/webhooks/event/{event.pk}/change/"))
    assert both(event) in told and NOTE not in told
    payout = rows["payouts/payout"]
    decision = words(finance.get(f"/admin/payouts/payout/{payout.pk}/decide/"))
    assert f"Created {both(payout)}" in decision


def test_a_row_of_a_clock_that_is_right_tells_one_time(cast: Cast, finance: Browser) -> None:
    made = make.payment(cast.bakery.test)
    for page in ("", f"{made['id']}/change/"):
        assert "test clock" not in words(finance.get(f"/admin/payments/payment/{page}"))


def test_a_movement_and_a_delivery_say_that_a_test_clock_told_their_time(
    ahead: Cast, finance: Browser
) -> None:
    """No ID of theirs tells when they were made."""
    answer = ahead.bakery.test.post("/webhook_endpoints", {"webhook_endpoint": HOOK})
    assert answer.status_code == 201, answer.text
    make.paid(ahead.bakery.test)
    delivery = Delivery.objects.order_by("created_at")[0]
    settled = Movement.objects.get(kind="payment_settled")
    for page, row, own, label in (
        ("webhooks/delivery", delivery, delivery.created_at, "Created"),
        ("ledger/movement", settled, settled.at, "Booked"),
    ):
        said = f"{plain(own)} by its test clock"
        assert said in words(finance.get(f"/admin/{page}/")), page
        assert f"{label} {said}" in words(finance.get(f"/admin/{page}/{row.pk}/change/")), page


def test_what_waits_has_waited_by_the_clock_of_the_machine(ahead: Cast) -> None:
    reviewed(ahead, 1)
    answer = ahead.bakery.test.post("/webhook_endpoints", {"webhook_endpoint": HOOK})
    assert answer.status_code == 201, answer.text
    make.paid(ahead.bakery.test)
    assert Delivery.objects.get().next_attempt_at > clock.real_now()
    [deliveries, *_] = monitor(clock.real_now()).outbox
    assert deliveries.since is not None and deliveries.since <= clock.real_now()
    [queue] = [queue for queue in home.queues(clock.real_now()) if queue.name.startswith("Payouts")]
    assert queue.since is not None and queue.since <= clock.real_now()


def test_coins_that_arrive_and_leave_are_told_in_the_money_of_the_store(
    cast: Cast, finance: Browser
) -> None:
    make.paid(cast.bakery.test)
    assert cast.bakery.store.settlement_currency == "EUR"
    shown = words(finance.get("/admin/chain/deposit/"))
    assert f"{Deposit.objects.get().asset.coin_symbol} ≈" in shown and "$" not in shown
    stray(cast)
    assert "0.1 ETH ≈ €" in words(finance.get("/admin/chain/unmatchedtransfer/"))


def test_no_coins_are_worth_nothing_and_not_about_nothing() -> None:
    class Coin:
        atomic_decimals = 18
        coin_symbol = "ETH"

    class Row:
        rate_now = Decimal(2000)
        rate_currency = "EUR"

    said = [
        " ".join(unescape(strip_tags(worth(atomic, Coin, Row))).split())
        for atomic in (0, 1, 10**18)
    ]
    assert said == ["0 ETH €0.00", "0.000000000000000001 ETH < €0.01", "1 ETH ≈ €2,000.00"]
