"""The test clock on the dashboard: seen wherever it is shifted, moved by who may, in test mode
alone."""

from typing import Any

import pytest
from django.conf import settings

from apps.access import request_log
from apps.core.redis import buckets
from apps.stores.models import Role, Store, User
from apps.webhooks.models import Delivery, Event
from tests.cast import Cast, join, person
from tests.dashboard.browse import Browser, field_errors, text
from tests.make import advance, paid

DAY = 86_400
ENDPOINT = {
    "webhook_endpoint": {
        "url": "https://1.1.1.1/hook",
        "subscribed_events": ["payment_intent.completed"],
    }
}


def offset(cast: Cast) -> int:
    return Store.objects.get(pk=cast.bakery.store.pk).test_offset_seconds


def joined(cast: Cast, role: str) -> Browser:
    user = person(role)
    join(cast.bakery.store, user, role)
    return Browser(user)


def test_every_page_says_where_a_shifted_clock_stands(cast: Cast) -> None:
    browser = Browser(cast.alice)
    assert 'id="test-clock"' not in text(browser.get("payments"))
    advance(cast.bakery.test, 3 * DAY)
    for path in ("", "payments", "team", "webhooks", "security"):
        shown = text(browser.get(path))
        assert 'id="test-clock"' in shown and "Real time" in shown, path
    browser.switch("live")
    assert 'id="test-clock"' not in text(browser.get("payments"))


def test_the_bar_has_the_readers_time_also_where_the_books_have_the_stores(cast: Cast) -> None:
    paid(cast.bakery.test)
    advance(cast.bakery.test, 3 * DAY)
    Store.objects.filter(pk=cast.bakery.store.pk).update(time_zone="Pacific/Kiritimati")
    User.objects.filter(pk=cast.alice.pk).update(time_zone="Asia/Tokyo")
    browser = Browser(cast.alice)
    for path in ("", "statement"):
        bar = text(browser.get(path)).split('id="test-clock"')[1].split("</aside>")[0]
        assert "JST" in bar and "UTC+14" not in bar, path
    assert "(UTC+14)" in text(browser.get("statement"))


@pytest.mark.parametrize(
    ("step", "least", "most"),
    [("hour", 3600, 3600), ("day", DAY, DAY), ("month", 28 * DAY, 31 * DAY)],
)
def test_a_step_moves_it_and_leads_back_to_the_page(
    cast: Cast, step: str, least: int, most: int
) -> None:
    answer = Browser(cast.alice).post(
        "test-clock", step=step, next="/dashboard/payments?status=pending"
    )
    assert (answer.status_code, answer.headers["Location"]) == (
        303,
        "/dashboard/payments?status=pending",
    )
    assert least <= offset(cast) <= most


def test_any_way_is_moved_by_a_number_and_a_unit(cast: Cast) -> None:
    Browser(cast.alice).post("test-clock", amount="36", unit="hours")
    assert offset(cast) == 36 * 3600


def test_a_way_that_is_none_is_told_at_its_input(cast: Cast) -> None:
    browser = Browser(cast.alice)
    for amount in ("", "0", "-1", "1.5", "x", "²", "99999"):
        answer = browser.post("test-clock", amount=amount, unit="days")
        told = field_errors(answer)
        assert told == {"amount": "Enter a whole number from 1 to 9,999."}, amount
        assert answer.status_code == 422 and offset(cast) == 0, amount


def test_more_than_twenty_years_is_refused(cast: Cast) -> None:
    answer = Browser(cast.alice).post("test-clock", amount="9999", unit="weeks")
    assert "at most 20 years ahead" in text(answer) and offset(cast) == 0


def test_who_may_not_create_payments_sees_it_and_cannot_move_it(cast: Cast) -> None:
    advance(cast.bakery.test, DAY)
    viewer = joined(cast, Role.VIEWER)
    shown = text(viewer.get())
    assert 'id="test-clock"' in shown and 'name="step"' not in shown
    assert viewer.post("test-clock", step="hour").status_code == 403
    assert offset(cast) == DAY
    assert joined(cast, Role.DEVELOPER).post("test-clock", step="hour").status_code == 303


def test_live_mode_has_none(cast: Cast) -> None:
    browser = Browser(cast.alice)
    browser.switch("live")
    page = text(browser.get("test-clock"))
    assert "Only in test mode" in page and "Switch to test mode</button>" in page
    assert "for test credentials only" in text(browser.post("test-clock", step="hour"))
    assert offset(cast) == 0


def test_a_move_under_way_is_shown_and_no_second_one_begins(cast: Cast) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(test_clock_target_seconds=30 * DAY)
    browser = Browser(cast.alice)
    shown = text(browser.get("payments"))
    assert (
        "Test clock is advancing" in shown
        and "data-refreshes" in shown
        and 'name="step"' not in shown
    )
    assert browser.post("test-clock", step="hour").status_code == 409
    assert offset(cast) == 0


def test_a_page_that_looks_again_gets_the_part_whole_and_its_own_way_back(cast: Cast) -> None:
    advance(cast.bakery.test, DAY)
    browser = Browser(cast.alice)
    assert 'name="step"' not in text(browser.get("test-clock")).split("<main")[0]
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/dashboard/payouts?page=2"}
    part = text(browser.get("test-clock", headers=headers)).split("<main")[0]
    assert 'id="test-clock"' in part and 'name="step"' in part
    assert 'name="next" value="/dashboard/payouts?page=2"' in part


def test_ways_take_from_the_bucket_of_the_api(cast: Cast) -> None:
    _, burst = settings.LIMITS["test_clock"]["test"]
    buckets.take("test_clock", "test", str(cast.bakery.store.pk), burst)
    assert Browser(cast.alice).post("test-clock", step="hour").status_code == 429
    assert cast.bakery.test.post("/test_clock/advance", {"seconds": 1}).status_code == 429


def test_times_of_two_clocks_say_which_they_are(cast: Cast) -> None:
    api = cast.bakery.test
    endpoint: Any = api.post("/webhook_endpoints", ENDPOINT).json()
    paid(api)
    browser = Browser(cast.alice)
    for path in ("events", "requests", f"webhooks/{endpoint['id']}"):
        shown = text(browser.get(path)).split("<main")[1]
        assert "Real time" not in shown and "Test clock<" not in shown, path

    advance(api, 25 * 3600)
    paid(api)
    request_log.flush()
    event = Event.objects.filter(type="payment_intent.completed").order_by("-id")[0]
    delivery = Delivery.objects.get(event=event)
    for path in (
        "events",
        f"events/{event.pk}",
        f"webhooks/{endpoint['id']}",
        f"webhooks/{endpoint['id']}/deliveries/{delivery.pk}",
    ):
        shown = text(browser.get(path)).split("<main")[1]
        assert "Test clock</span>" in shown and "Real time" in shown, path
    assert "Real time</span>" in text(browser.get("requests")).split("<main")[1]
