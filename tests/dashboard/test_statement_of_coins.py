"""The statement of all coins at once: one list in the order of booking, each line with the balance
it left its coin, and sums of each."""

import csv
import io
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.html import strip_tags

from apps.ledger import statements
from apps.ledger.selectors import store_accounts
from apps.ledger.statements import LineFilter
from apps.stores.models import Store, User
from tests import make
from tests.cast import Cast, assemble
from tests.dashboard.browse import Browser, text
from tests.stage import standing

ALL = LineFilter()


def book(cast: Cast, times: int) -> None:
    """Entries of several coins, by turns."""
    for _ in range(times):
        make.store_coins(cast.bakery.store, "SETH", 10**17)
        make.store_coins(cast.bakery.store, "USDC_SETH", 10**6)
        make.paid(cast.bakery.test)


def booked() -> Cast:
    cast = assemble()
    book(cast, 3)
    return cast


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[Cast]:
    yield from standing(django_db_blocker, booked)


@pytest.fixture
def cast(made: Cast, db: None) -> Cast:
    """Alice's store has entries of several coins, charlie's none."""
    return made.again()


def available(cast: Cast) -> list[int]:
    """The ids of the accounts of what is available."""
    return [
        store_account.account_id
        for store_account in store_accounts(cast.bakery.store.pk, "test")
        if store_account.kind == "available"
    ]


def every(ids: list[int], wanted: LineFilter = ALL, limit: int = 2) -> list[Any]:
    """All lines, page by page."""
    found: list[Any] = []
    before = None
    while True:
        page = statements.merged(ids, before=before, filters=wanted, limit=limit)
        found += page.lines
        before = page.older
        if before is None:
            return found


def plain(one: Any) -> tuple[Any, ...]:
    return one.entry_id, one.kind, one.amount_atomic, one.balance_atomic


@pytest.mark.parametrize("scan_max", [10_000, 6])
def test_the_merged_pages_hold_what_the_accounts_hold(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, scan_max: int
) -> None:
    ids = available(cast)
    monkeypatch.setattr(statements, "SCAN_MAX", scan_max)
    apart = [line for id in ids for line in statements.page(id, limit=100).lines]
    expected = [plain(item) for item in sorted(apart, key=lambda one: one.entry_id, reverse=True)]
    assert len(ids) > 1 and [plain(item) for item in every(ids)] == expected
    corrections = [item for item in expected if item[1] == "correction"]
    assert [
        plain(item) for item in every(ids, LineFilter(kind="correction"))
    ] == corrections and corrections
    middle = sorted(item.at for item in apart)[len(apart) // 2]
    until = [plain(item) for item in every(ids, LineFilter(until=middle))]
    assert until == [
        plain(item)
        for item in sorted(apart, key=lambda one: one.entry_id, reverse=True)
        if item.at < middle
    ]


def test_all_coins_are_the_default_and_one_can_be_chosen(cast: Cast) -> None:
    browser = Browser(cast.alice)
    page = browser.get("statement?account=available")
    shown = text(page)
    assert "By coin" in shown and '<option value="">All coins</option>' in page.content.decode()
    assert {line.asset.pk for line in page.context["lines"]} == {"SETH", "USDC_SETH"}
    assert {coin.pk for _, coin in page.context["by_coin"]} == {"SETH", "USDC_SETH"}
    assert page.context["total"].entries == len(page.context["lines"]) and page.context[
        "total"
    ].cents == sum(line.book_worth.cents for line in page.context["lines"])
    for item, coin in page.context["by_coin"]:
        newest = next(line for line in page.context["lines"] if line.asset == coin)
        assert item.closing_atomic == newest.line.balance_atomic
    alone = browser.get("statement?account=available&asset=USDC_SETH")
    assert {line.asset.pk for line in alone.context["lines"]} == {
        "USDC_SETH"
    } and "By coin" not in text(alone)


def test_coins_have_six_digits_that_count_with_all_of_them_at_hand(cast: Cast) -> None:
    """The sum is that of the values; the file and the title of each amount have every digit."""
    for atomic in (4_081_205_555_555_555_555, 11_008_800_000_001):
        make.store_coins(cast.strangers.store, "SETH", atomic)
    browser = Browser(cast.charlie)
    whole = "4.081216564355555556 ETH"
    assert strip_tags(text(browser.get("balances"))).count(whole) == 2  # available, and in total
    for query in ("", "&asset=SETH"):
        shown = strip_tags(text(browser.get(f"statement?account=available{query}")))
        for part in ("4.08121 ETH", "0.0000110088 ETH", "4.08122 ETH"):
            assert part in shown, part
        markup = text(browser.get(f"statement?account=available{query}"))
        for exact in ("4.081205555555555555 ETH", "0.000011008800000001 ETH", whole):
            assert f'title="{exact}"' in markup, exact
    rows = b"".join(browser.get("statement.csv?account=available").streaming_content).decode()
    assert "4.081205555555555555" in rows and "0.000011008800000001" in rows


def test_the_file_has_every_coin(cast: Cast) -> None:
    answer = Browser(cast.alice).get("statement.csv?account=available")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert {row["asset"] for row in rows} == {"SETH", "USDC_SETH"} and all(
        row["at"].endswith("Z") for row in rows
    )


def test_many_lines_of_several_coins_cost_the_statements_of_few(cast: Cast) -> None:
    browser = Browser(cast.alice)

    def asked() -> int:
        browser.get("statement")
        with CaptureQueriesContext(connection) as seen:
            browser.get("statement")
        return len(seen)

    few = asked()
    book(cast, 2)
    assert asked() == few


def test_days_are_those_of_the_reader(cast: Cast) -> None:
    make.paid(cast.strangers.test)
    at = Browser(cast.charlie).get("statement?account=available").context["lines"][0].line.at
    for zone, label in (("Pacific/Kiritimati", "UTC+14"), ("America/New_York", "E")):
        User.objects.filter(pk=cast.charlie.pk).update(time_zone=zone)
        cast.charlie.refresh_from_db()
        day = at.astimezone(ZoneInfo(zone)).date()
        page = Browser(cast.charlie).get(f"statement?account=available&from={day}&to={day}")
        assert f"From ({label}" in text(page) and len(page.context["lines"]) == 1
        for other in (day - timedelta(days=1), day + timedelta(days=1)):
            assert (
                not Browser(cast.charlie)
                .get(f"statement?account=available&from={other}&to={other}")
                .context["lines"]
            )


def test_every_currency_stands_in_that_of_the_books_with_one_total(cast: Cast) -> None:
    for currency in ("EUR", "CHF", "JPY", "USD"):
        make.paid(cast.strangers.test, amount="100", currency=currency)
    browser = Browser(cast.charlie)
    page = browser.get("statement?account=available")
    lines = page.context["lines"]
    assert {line.book_worth.currency for line in lines} == {"EUR"}
    own = {line.own_worth.currency: line.own_worth.cents for line in lines if line.own_worth}
    assert set(own) == {"CHF", "JPY", "USD"}
    # 1800 EUR are 1750 CHF, 300000 JPY and 2000 USD.
    worth = {line.booking.currency: line.book_worth.cents for line in lines}
    for currency, ether in (("CHF", 1750), ("JPY", 300000), ("USD", 2000)):
        assert abs(worth[currency] - own[currency] * 1800 / ether) < 1, currency
    total = page.context["total"]
    assert total.cents == sum(line.book_worth.cents for line in lines) and total.unvalued == 0
    shown = text(page)
    assert "Total in EUR" in strip_tags(shown) and "Value in EUR" in shown

    answer = browser.get("statement.csv?account=available")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert {row["book_currency"] for row in rows} == {"EUR"}
    assert {row["currency"] for row in rows} == {"EUR", "CHF", "JPY", "USD"}
    cents = sum(round(100 * float(row["book_value"])) for row in rows)
    assert cents == total.cents and all(float(row["book_rate"]) == 1800 for row in rows)


def test_days_are_those_of_the_store_once_it_chose_a_zone(cast: Cast) -> None:
    make.paid(cast.strangers.test)
    Store.objects.filter(pk=cast.strangers.store.pk).update(time_zone="Pacific/Kiritimati")
    User.objects.filter(pk=cast.charlie.pk).update(time_zone="America/New_York")
    at = Browser(cast.charlie).get("statement?account=available").context["lines"][0].line.at
    day = at.astimezone(ZoneInfo("Pacific/Kiritimati")).date()
    there = Browser(cast.charlie).get(f"statement?account=available&from={day}&to={day}")
    assert len(there.context["lines"]) == 1 and "Date (UTC+14)" in text(there)
    before = day - timedelta(days=1)
    assert not Browser(cast.charlie).get(f"statement?from={before}&to={before}").context["lines"]
