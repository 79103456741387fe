"""The lists of payouts, refunds and swaps: what their address asks for, what rows were worth, what
the filtered ones come to, CSV."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.access.factors import second_factor
from apps.assets.models import DailyRate, Rate
from apps.core import clock
from apps.dashboard.tables import money_lists
from apps.payments.services.refund_progress import advance_refunds
from apps.payouts.models import Payout
from apps.payouts.services import moves
from apps.payouts.services.destinations import add_wallet
from tests import auditing, make
from tests.cast import Cast
from tests.dashboard.browse import Browser, hidden_fields, text

LISTS = ("payouts", "refunds", "swaps")
ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"


@pytest.fixture
def browser(cast: Cast) -> Browser:
    return Browser(cast.alice)


def rows(browser: Browser, noun: str, query: str = "") -> list[dict[str, str]]:
    answer = browser.get(f"{noun}.csv?columns=all&{query}")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))


def fill(cast: Cast, noun: str) -> None:
    """One more row of a list."""
    shop = cast.bakery
    if noun == "payouts":
        make.store_coins(shop.store, "SETH", 10**17)
        make.payout(shop.test, 10**17)
    elif noun == "swaps":
        make.swapped(shop, key=make.fresh_address())
    else:
        make.paid(shop.test, amount="50.00")
        refunded(cast)


def refunded(cast: Cast, **fields: Any) -> dict[str, Any]:
    made = make.paid(cast.bakery.test, **fields)
    answer = cast.bakery.test.post(f"/payments/{made['id']}/refunds", {}, key=made["id"])
    assert answer.status_code == 201, answer.content
    return made


@pytest.mark.parametrize("noun", LISTS)
def test_a_row_has_its_value_and_the_list_its_sum(cast: Cast, browser: Browser, noun: str) -> None:
    assert "yet</h2>" in text(browser.get(noun))
    fill(cast, noun)
    shown = text(browser.get(noun))
    value = "€10.00" if noun == "refunds" else "€180.00"
    assert shown.count(value) == 2, "in its row and as the sum"
    assert [row["value"] for row in rows(browser, noun)] == [value.removeprefix("€")]


@pytest.mark.parametrize("noun", LISTS)
def test_a_list_asks_no_more_questions_with_more_rows(
    cast: Cast, browser: Browser, noun: str
) -> None:
    def questions() -> int:
        with CaptureQueriesContext(connection) as asked:
            browser.get(noun)
        return len(asked)

    fill(cast, noun)
    questions()
    few = questions()
    for _ in range(2):
        fill(cast, noun)
    assert questions() <= few


@pytest.mark.parametrize("noun", LISTS)
def test_days_status_and_coin_narrow_a_list_and_its_file(
    cast: Cast, browser: Browser, noun: str
) -> None:
    fill(cast, noun)
    today = cast.bakery.access().now().date()
    before = today - timedelta(days=2)
    after = today + timedelta(days=2)
    for query, count in (
        ("", 1),
        (f"from={before}&to={after}", 1),
        (f"to={before}", 0),
        (f"from={after}", 0),
        ("status=failed", 0),
        ("status=nonsense&from=x&to=9999-12-31&page=x", 1),
        ("coin=SETH", 1),
        ("coin=NOPE", 0),
        ("q=%00nothing%F0%9F%8E%89", 0),
    ):
        page = browser.get(f"{noun}?{query}", headers={"HX-Request": "true"})
        assert page.status_code == 200 and len(page.context["table"].rows) == count, query
        if not count or not query:
            assert len(rows(browser, noun, query)) == count, query
        assert ("No matches" in text(page)) == (count == 0)


def test_a_payout_is_found_by_what_people_have_of_it(cast: Cast, browser: Browser) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    saved = add_wallet(cast.bakery.store, "test", "sepolia", ADDRESS, "Cold storage & more")
    made = make.payout(cast.bakery.test, 10**17, crypto_payout_detail_id=str(saved.pk))
    make.payout(cast.bakery.test, 10**16)
    for q in (made["id"], ADDRESS, "cold STORAGE"):
        assert [row["id"] for row in rows(browser, "payouts", f"q={q}")] == [made["id"]]
    (row,) = rows(browser, "payouts", f"q={ADDRESS}")
    assert (row["amount"], row["destination_name"], row["value"]) == (
        "0.1",
        "Cold storage & more",
        "180.00",
    )
    assert Browser(cast.charlie).get(f"payouts?q={ADDRESS}").context["is_empty"] is False
    assert not rows(Browser(cast.charlie), "payouts", f"q={ADDRESS}")


def test_a_refund_is_found_by_its_payment_and_valued_at_its_locked_rate(
    cast: Cast, browser: Browser
) -> None:
    make.paid(cast.bakery.test, amount="90.00")
    made = refunded(cast, title="Two <b>cups</b>", order_id="A-17", currency="USD")
    Rate.objects.filter(asset="SETH").update(rate=1)
    for q in (made["id"], made["reference"].lower(), "A-17", "cups"):
        (row,) = rows(browser, "refunds", f"q={q}")
        assert (row["payment_reference"], row["value"], row["currency"]) == (
            made["reference"],
            "10.00",
            "USD",
        )
    shown = text(browser.get("refunds"))
    assert (
        "Two &lt;b&gt;cups&lt;/b&gt;" in shown
        and "Requested" in shown
        and f"payments/{made['id']}" in shown
    )


def test_what_came_back_counts_for_nothing(cast: Cast, browser: Browser) -> None:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    made = make.payout(cast.bakery.test, 10**17)
    make.payout(cast.bakery.test, 2 * 10**17)
    payout = Payout.objects.select_related("store").get(pk=made["id"])
    moves.fail(payout, "unknown", "Declined", clock.real_now())
    moves.release(payout, clock.real_now())
    (coin,) = browser.get("payouts").context["sums"].coins
    assert (coin.amount_atomic, coin.count) == (2 * 10**17, 1)


def test_a_row_is_valued_at_its_day_or_not_at_all(cast: Cast, browser: Browser) -> None:
    fill(cast, "payouts")
    Payout.objects.update(created_at=clock.real_now() - timedelta(days=400))
    assert [row["value"] for row in rows(browser, "payouts")] == [""]
    (coin,) = browser.get("payouts").context["sums"].coins
    assert coin.worth == () and not coin.is_valued
    day = (clock.real_now() - timedelta(days=401)).date()
    DailyRate.objects.create(
        asset_id="SETH", currency="EUR", day=day, rate=2500, source="kraken", as_of=clock.real_now()
    )
    assert [row["value"] for row in rows(browser, "payouts")] == ["250.00"]


def test_sums_of_a_long_list_say_that_they_are_not_whole(
    cast: Cast, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        fill(cast, "payouts")
    monkeypatch.setattr(money_lists, "SUMMED_MAX", 2)
    page = browser.get("payouts")
    (coin,) = page.context["sums"].coins
    assert coin.count == 2 and "Totals cover the newest 2" in text(page)


def test_what_was_returned_leaves_no_list_whole(
    cast: Cast, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts for nothing, and takes its place among the newest all the same."""
    for _ in range(3):
        fill(cast, "payouts")
    newest = Payout.objects.order_by("-created_at").values("pk")[:1]
    Payout.objects.filter(pk__in=newest).update(status="failed", funds="returned")
    monkeypatch.setattr(money_lists, "SUMMED_MAX", 2)
    page = browser.get("payouts")
    (coin,) = page.context["sums"].coins
    assert coin.count == 1 and "Totals cover the newest 2" in text(page)


def test_htmx_gets_the_rows_alone(cast: Cast, browser: Browser) -> None:
    fill(cast, "refunds")
    advance_refunds()
    part = text(browser.get("refunds?status=submitted", headers={"HX-Request": "true"}))
    assert "<html" not in part and "Sent, not yet confirmed" in part


def test_the_books_are_right_after_money_went_out_by_every_form(cast: Cast) -> None:
    shop = cast.bakery
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    alice = Browser(cast.alice, answers=True)
    make.paid(shop.test, amount="1000.00", currency="JPY")
    made = make.paid(shop.test, amount="90.00")
    for path, fields in (
        (f"payments/{made['id']}/refund", {"amount": "33.33", "unit": "locked"}),
        ("payouts/new", {"amount": "44.44", "unit": "fiat", "destination_address": ADDRESS}),
    ):
        asked = {**hidden_fields(alice.get(path)), **fields}
        review = alice.post(path, **asked)
        assert review.status_code == 200
        assert alice.post(path, **hidden_fields(review)).status_code == 303
    for _ in range(2):
        make.advance(shop.test, 61)
    assert [row["value"] for noun in ("refunds", "payouts") for row in rows(alice, noun)] == [
        "33.33",
        "44.44",
    ]
    assert auditing.breaches() == []
