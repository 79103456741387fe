"""The first page: its figures beside those of the range before, the chart, balances, recent
payments and the way to live mode."""

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.access.models import ApiKey
from apps.access.services import create_api_key
from apps.core import clock
from apps.core.models import Mode
from apps.core.templatetags.tillgate import fiat
from apps.core.text.days import Days
from apps.core.text.moments import zone_name
from apps.dashboard.books import overview
from apps.dashboard.books.charts import Chart, line_chart
from apps.dashboard.books.overview import ranges
from apps.payments.models import Payment
from apps.payments.proceeds import proceeds_of
from apps.payments.services.reconcile import reconcile_due
from apps.platforms.requests import VerificationRequest
from apps.platforms.services.verifications import submit_verification
from apps.stores.models import Role, Store, User, Verification
from tests.cast import Cast, Shop, join, person
from tests.dashboard.browse import Browser, text
from tests.make import advance, paid, payment, store_coins
from tests.platforms.makers import VERIFICATION

DAY = 86_400


def home(shop: Shop, **query: str) -> dict[str, Any]:
    answer = Browser(shop.owner).client.get("/dashboard/", query)
    assert answer.status_code == 200
    context: dict[str, Any] = answer.context
    return context


def values(shop: Shop, **query: str) -> dict[str, Any]:
    return {figure.label: figure for figure in home(shop, **query)["overview"].figures}


def chart_of(now: list[int], before: list[int], *, unit_cents: int = 1) -> Chart:
    return line_chart(date(2026, 3, 1), now, date(2026, 2, 27), before, unit_cents=unit_cents)


def test_figures_are_those_of_the_summary(bakery: Shop) -> None:
    for amount in ("10.00", "24.50", "3.33"):
        paid(bakery.test, amount=amount)
    payment(bakery.test, amount="99.00")
    paid(bakery.test, amount="7.00", currency="USD")
    told = bakery.test.get("/payments/summary").json()
    overview = home(bakery)["overview"]
    shown = {figure.label: figure for figure in overview.figures}
    assert (
        shown["Gross volume"].value
        == fiat(told["totals"]["volume_cents"]["EUR"], "EUR")
        == "€37.83"
    )
    assert shown["Average payment"].value == fiat(
        told["totals"]["avg_order_value_cents"]["EUR"], "EUR"
    )
    assert told["totals"]["success_rate_by_currency"]["EUR"] == 0.75
    assert shown["Success rate"].value == "100%", "what is still open doesn't count"
    assert overview.other_volumes == ["$7.00"] and overview.has_open
    by_day = [bar.cents for bar in overview.chart.bars]
    assert by_day == [day["volume_cents"].get("EUR", 0) for day in told["timeseries"]]


def test_net_is_the_sum_of_what_each_payment_left(bakery: Shop) -> None:
    for amount in ("10.00", "0.50", "3.33"):
        paid(bakery.test, amount=amount)
    takings = proceeds_of(Payment.objects.visible_to(bakery.access())).values()
    left = sum((taking.net_cents or 0) - (taking.refunded_cents or 0) for taking in takings)
    assert 0 < left < 1383
    assert values(bakery)["Net after fees and refunds"].value == fiat(left, "EUR")


def test_a_range_is_compared_with_the_one_before(bakery: Shop) -> None:
    paid(bakery.test, amount="5.00")
    advance(bakery.test, 7 * DAY)
    paid(bakery.test, amount="40.00")
    payment(bakery.test, amount="1.00")
    advance(bakery.test, 8 * DAY)
    paid(bakery.test, amount="50.00")
    overview = home(bakery, range="7")["overview"]
    assert not overview.has_open
    shown = {figure.label: figure for figure in overview.figures}
    gross = shown["Gross volume"]
    rate = shown["Success rate"]
    assert (gross.value, gross.before, gross.change, gross.is_up) == (
        "€50.00",
        "€40.00",
        "25%",
        True,
    )
    assert (rate.value, rate.before, rate.change, rate.is_up) == (
        "100%",
        "50%",
        "50 pts",
        True,
    )
    net = shown["Net after fees and refunds"]
    assert net.change == "25%" and net.before.startswith("€39.")
    assert values(bakery, range="30")["Gross volume"].value == "€95.00"
    advance(bakery.test, 8 * DAY)
    assert values(bakery, range="7")["Gross volume"].is_down


def test_nothing_is_compared_with_a_range_in_which_the_store_began(bakery: Shop) -> None:
    paid(bakery.test, amount="2.00")
    advance(bakery.test, 31 * DAY)
    paid(bakery.test, amount="50.00")
    overview = home(bakery, range="30")["overview"]
    gross = overview.figures[0]
    assert (gross.value, gross.before, gross.note) == ("€50.00", "", "No full period before")
    assert overview.chart.before == ""


def test_a_day_that_runs_is_compared_with_the_same_hours(bakery: Shop) -> None:
    paid(bakery.test, amount="5.00")
    advance(bakery.test, 7 * DAY)
    paid(bakery.test, amount="40.00")
    advance(bakery.test, 60)
    paid(bakery.test, amount="20.00")
    advance(bakery.test, 7 * DAY - 30)
    paid(bakery.test, amount="50.00")
    gross = values(bakery, range="7")["Gross volume"]
    assert (gross.value, gross.before) == ("€50.00", "€40.00")


def test_an_unknown_range_is_the_usual_one(bakery: Shop) -> None:
    paid(bakery.test)
    assert [
        choice.key for choice in home(bakery, range="x")["overview"].choices if choice.is_current
    ] == ["30"]


def test_a_range_ends_today_and_this_month_is_compared_with_the_same_days() -> None:
    def told(key: str, today: date) -> list[tuple[date, date]]:
        noon = datetime.combine(today, time(12), UTC)
        return [(item.first, item.last) for item in ranges(key, noon)]

    today = date(2026, 3, 31)
    week_before = (date(2026, 3, 18), date(2026, 3, 24))
    assert told("7", today) == [(date(2026, 3, 25), today), week_before]
    month_before = (date(2026, 2, 1), date(2026, 2, 28))
    assert told("month", today) == [(date(2026, 3, 1), today), month_before]
    assert told("month", date(2026, 1, 5))[1] == (date(2025, 12, 1), date(2025, 12, 5))


def test_days_of_the_chart_begin_at_the_readers_midnight(bakery: Shop) -> None:
    made = paid(bakery.test, amount="10.00")
    for zone in ("Pacific/Kiritimati", "America/Los_Angeles"):
        User.objects.filter(pk=bakery.owner.pk).update(time_zone=zone)
        for paid_at, days_ago in ((time(0, 30), 0), (time(23, 30), 1)):
            today = bakery.access().now().astimezone(ZoneInfo(zone)).date()
            day = today - timedelta(days=days_ago)
            moment = datetime.combine(day, paid_at, ZoneInfo(zone))
            Payment.objects.filter(pk=made["id"]).update(created_at=moment)
            answer = Browser(bakery.owner).get("?range=7")
            by_day = {bar.day: bar.cents for bar in answer.context["overview"].chart.bars}
            assert max(by_day) == today, (zone, paid_at)
            assert by_day[day] == sum(by_day.values()) == 1000, (zone, paid_at)
            name = zone_name(timezone.localtime(timezone=ZoneInfo(zone)))
            assert f"Day ({name})" in text(answer)


def test_a_day_is_as_long_as_the_zone_makes_it() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    longest = Days(date(2026, 10, 25), date(2026, 10, 25), berlin)
    assert longest.end.astimezone(UTC) - longest.begin.astimezone(UTC) > timedelta(hours=24.9)
    back_at_midnight = Days(date(2026, 10, 31), date(2026, 10, 31), ZoneInfo("America/Havana"))
    after = Days(date(2026, 11, 1), date(2026, 11, 1), ZoneInfo("America/Havana"))
    gap = after.begin.astimezone(UTC) - back_at_midnight.end.astimezone(UTC)
    assert gap == timedelta(microseconds=1)


def test_a_store_without_payments_is_shown_the_way_and_no_figures(bakery: Shop) -> None:
    shown = text(Browser(bakery.owner).get())
    assert "Gross volume" not in shown and "No test payments yet" in shown
    assert "Get ready to accept payments" in shown


def test_a_store_that_has_sold_nothing_lately_has_no_chart(bakery: Shop) -> None:
    payment(bakery.test)
    overview = home(bakery)["overview"]
    assert overview.chart is None
    assert next(item for item in overview.figures if item.label == "Gross volume").value == "€0.00"


def test_the_axis_holds_the_largest_sum_in_round_steps() -> None:
    for most, unit, levels in (
        (4, 1, [4, 3, 2, 1, 0]),
        (5, 1, [8, 6, 4, 2, 0]),
        (93, 1, [100, 75, 50, 25, 0]),
        (101, 1, [200, 150, 100, 50, 0]),
        (201, 1, [400, 300, 200, 100, 0]),
        (100, 100, [400, 300, 200, 100, 0]),
        (801, 1, [2000, 1500, 1000, 500, 0]),
        (78160, 1, [80000, 60000, 40000, 20000, 0]),
        (80001, 1, [100000, 75000, 50000, 25000, 0]),
    ):
        assert chart_of([0, most], [0, 0], unit_cents=unit).levels_cents == levels, (most, unit)


@pytest.mark.parametrize(
    ("amount", "labels"),
    [
        ("0.04", ["€0.04", "€0.03", "€0.02", "€0.01", "€0.00"]),
        ("0.93", ["€1.00", "€0.75", "€0.50", "€0.25", "€0.00"]),
        ("3.50", ["€4", "€3", "€2", "€1", "€0"]),
    ],
)
def test_the_labels_of_a_small_axis_differ(bakery: Shop, amount: str, labels: list[str]) -> None:
    paid(bakery.test, amount=amount)
    shown = text(Browser(bakery.owner).get(""))
    (levels,) = re.findall(r'<div class="levels" aria-hidden="true">(.*?)</div>', shown)
    assert re.findall(r"<span> ?(.*?)</span>", levels) == labels


def test_the_chart_runs_from_edge_to_edge_and_its_last_day_is_not_over() -> None:
    chart = chart_of([0, 40_000, 20_000], [40_000, 0])
    assert (chart.line, chart.partial, chart.before) == (
        "0,1000 500,0",
        "500,0 1000,500",
        "0,0 500,1000",
    )
    assert [(bar.start, bar.width) for bar in chart.bars] == [(0, 250), (250, 500), (750, 250)]
    assert [bar.day_before for bar in chart.bars] == [date(2026, 2, 27), date(2026, 2, 28), None]
    assert [tick.at for tick in chart.ticks] == ["0.00%", "50.00%", "100.00%"]


def test_a_range_without_sales_before_has_a_table_and_is_compared_with_nothing(
    bakery: Shop,
) -> None:
    assert chart_of([0, 40_000, 20_000], [0, 0]).before == ""
    paid(bakery.test, amount="12.34")
    alone = text(Browser(bakery.owner).get())
    assert "key-before" not in alone and "Previous period" not in alone
    table = "<summary>Show as table</summary>"
    assert table in alone and '<td class="number">€12.34</td>' in alone
    assert 'style="' not in alone.split("<main")[1]
    for _ in range(2):
        advance(bakery.test, 7 * DAY)
        paid(bakery.test, amount="1.00")
    paid(bakery.test, amount="5.00")
    beside = text(Browser(bakery.owner).get("?range=7"))
    assert "key-before" in beside and "Previous period" in beside


def test_the_days_below_the_chart_are_evenly_spaced_up_to_today() -> None:
    chart = chart_of([0] * 30, [])
    days = [tick.day.day for tick in chart.ticks]
    assert days == [1, 6, 11, 16, 21, 26, 30]
    assert [tick.day.day for tick in chart.ticks if not tick.is_at_length] == [1, 16, 30]


def statements(shop: Shop) -> int:
    browser = Browser(shop.owner)
    browser.get()
    with CaptureQueriesContext(connection) as asked:
        assert browser.get().status_code == 200
    return len(asked)


def test_more_payments_and_coins_ask_no_more(bakery: Shop) -> None:
    paid(bakery.test)
    few = statements(bakery)
    for _ in range(2):
        paid(bakery.test)
    store_coins(bakery.store, "SETH", 10**15)
    assert statements(bakery) == few


def test_the_ledger_of_a_large_store_is_asked_once_in_a_while(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a payment was never reconciled."""
    monkeypatch.setattr(overview, "KEPT_FROM", 1)
    cache.clear()
    paid(bakery.test, amount="10.00")
    Payment.objects.update(reconciliation_due=False)
    kept = values(bakery)["Net after fees and refunds"].value
    paid(bakery.test, amount="10.00")
    shown = values(bakery)
    assert (shown["Gross volume"].value, shown["Net after fees and refunds"].value) == (
        "€20.00",
        kept,
    )
    cache.clear()
    assert values(bakery)["Net after fees and refunds"].value != kept


def test_what_is_kept_of_a_large_store_is_of_both_ranges(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the seventh, this month begins with the seven days, and is compared with others."""
    monkeypatch.setattr(overview, "KEPT_FROM", 1)
    cache.clear()
    sold = bakery.access().now().date()
    paid(bakery.test, amount="10.00")
    advance(bakery.test, 3 * 86_400)
    paid(bakery.test, amount="20.00")
    Payment.objects.update(reconciliation_due=False)
    today = Days(sold + timedelta(days=3), sold + timedelta(days=3))
    for days, net in ((0, 990), (1, 0)):
        before = Days(sold + timedelta(days=days), sold + timedelta(days=days))
        assert overview._net(bakery.access(), "EUR", today, before, 2) == (1980, net)


def test_more_payments_than_one_look_may_cost_are_left_to_reports(
    bakery: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While some were never reconciled; afterwards there is no such limit."""
    monkeypatch.setattr(overview, "ASKED_MAX", 1)
    paid(bakery.test, amount="10.00")
    Payment.objects.update(reconciliation_due=False)
    assert values(bakery)["Net after fees and refunds"].value == "€9.90"
    paid(bakery.test, amount="10.00")
    shown = values(bakery)
    assert (shown["Gross volume"].value, shown["Net after fees and refunds"].value) == (
        "€20.00",
        "–",
    )
    Payment.objects.update(reconciliation_due=True)
    assert values(bakery)["Net after fees and refunds"].value == "€19.80"
    reconcile_due()
    assert values(bakery)["Net after fees and refunds"].value == "€19.80"


def test_balances_have_their_worth_first_and_who_may_pays_them_out(cast: Cast) -> None:
    store_coins(cast.bakery.store, "SETH", 10**18)
    shown = text(Browser(cast.alice).get())
    assert "≈ €1,800.00" in shown and 'href="/dashboard/payouts/new?asset=SETH"' in shown
    viewer = person("viewer")
    join(cast.bakery.store, viewer, Role.VIEWER)
    assert "payouts/new" not in text(Browser(viewer).get())


def test_the_first_call_is_shown_with_the_readers_own_key(cast: Cast) -> None:
    Store.objects.filter(pk=cast.bakery.store.pk).update(way_of_selling="website")
    paid(cast.bakery.test)
    key, _ = create_api_key(cast.bakery.store, Mode.TEST, name="Website")
    ApiKey.objects.filter(store=cast.bakery.store).update(last_used_at=None)
    shown = text(Browser(cast.alice).get())
    assert f"-u &#x27;{key.prefix}…{key.last_four}:&#x27;" in shown and "/api/v2/payments" in shown


def test_a_new_key_comes_with_a_call_that_works(cast: Cast) -> None:
    browser = Browser(cast.alice, answers=True).prove()
    shown = browser.post(
        "api-keys/new", name="Website", key_type="secret", scopes=["payments:write"]
    )
    assert f"-u &#x27;{shown.context['secret']}:&#x27;" in text(shown)


def test_a_payout_destination_is_a_step_of_who_moves_money(cast: Cast) -> None:
    assert "Add a payout destination" in text(Browser(cast.alice).get())
    viewer = person("viewer")
    join(cast.bakery.store, viewer, Role.VIEWER)
    assert "Add a payout destination" not in text(Browser(viewer).get())


def verification(browser: Browser) -> Any:
    return next(
        step
        for step in browser.get().context["setup"].steps
        if step.title == "Verify your business"
    )


def test_the_business_step_says_what_became_of_it_and_what_waits(cast: Cast) -> None:
    browser = Browser(cast.alice)
    step = verification(browser)
    assert (step.is_done, step.action, step.url) == (
        False,
        "Start verification",
        "/dashboard/verification",
    )
    sent = submit_verification(cast.bakery.store, VerificationRequest.read(VERIFICATION))
    assert "reviewing your details" in verification(browser).explanation
    assert verification(browser).is_waiting
    Verification.objects.filter(pk=sent.pk).update(status="rejected")
    assert "couldn’t verify" in verification(browser).explanation
    Store.objects.filter(pk=cast.bakery.store.pk).update(kyc_confirmed_at=clock.real_now())
    assert verification(browser).is_done
