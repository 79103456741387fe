"""What people and programs read costs by what it shows, not by all there ever was: of eight times
the rows no page, list, search or summary reads more buffers, but for those that are named."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from apps.core import buckets, counting, searching
from apps.dashboard import exports, lists, money_lists
from apps.reports.selectors import LINES, Extent, asset_sums, midnight
from tests import make
from tests.console.test_staff_roles import signed_in
from tests.dashboard.browse import Browser
from tests.growth import pages
from tests.growth.buffers import reading
from tests.growth.seed import Town, town

FEW = 2_000
MANY = 8 * FEW
GROWTH_MAX = 1.3
# Of few rows a page isn't full; of many each of its fifty costs a few buffers more.
BUFFERS_SPARE = 400
# What is counted, summed or searched of the newest only is so few here that both sizes have more.
CAP = 100
CAPS = (
    (counting, "COUNTED_MAX"),
    (searching, "NEWEST_MAX"),
    (exports, "EXPORT_MAX"),
    (lists, "EXPORT_MAX"),
    (money_lists, "SUMMED_MAX"),
)
# How the names of those begin that still read more of more rows, and of what. It may only get
# shorter.
GROWING = {
    "dashboard statement": "at most 10,000 entries are summed up and looked through",
    "dashboard payments?": "what the database expects too few of is joined before the page is cut",
    "dashboard payments/": "events of the payment's time are looked through for its own",
    "dashboard refunds": "the payments of the refunds that are summed up",
    "dashboard payouts": "the rates of the payouts that are summed up",
    "dashboard invoices": "the customers of invoices",
    "dashboard customers?": "the customers that a search looks through",
    "dashboard subscriptions.csv": "the customers of subscriptions",
    "dashboard requests": "earlier requests with the same key",
    "api payments?order_id": "the payments of one order",
    "api billing/subscriptions": "all subscriptions are answered",
    "api agentic/payments": "the payments of an agent's store",
    "staff /admin/": "the rows of the last days, or of all stores, before the page is cut",
}


@pytest.fixture(scope="module")
def place(django_db_setup: None, django_db_blocker: Any) -> Iterator[Town]:
    with django_db_blocker.unblock(), town(MANY) as built:
        yield built


def asks(place: Town) -> list[pages.Ask]:
    people = Browser(place.shop.owner).prove()
    clerk = signed_in(make.clerk("finance"))
    return [
        *pages.dashboard(place.world, people),
        *pages.api(place.world),
        *pages.hosted(place.world, Client()),
        *pages.platform(place.world),
        *pages.staff(clerk),
    ]


def measured(place: Town) -> dict[str, int]:
    """Buffers by what was asked."""
    found = {}
    for ask in asks(place):
        buckets.client().flushdb()
        with reading() as read:
            answer = ask.get()
        assert answer.status_code in pages.ANSWERS, f"{ask.name}: {answer.status_code}"
        found[ask.name] = sum(read.buffers.values())
    return found


@pytest.mark.whole  # in the suite what runs by itself, and the plans of lists in tests/dashboard
def test_what_is_asked_reads_no_more_of_eight_times_the_rows(
    place: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in CAPS:
        monkeypatch.setattr(module, name, CAP)
    place.grow(FEW)
    few = measured(place)
    place.grow(MANY)
    many = measured(place)

    grown = {
        name: (few.get(name, 0), buffers)
        for name, buffers in many.items()
        if buffers > GROWTH_MAX * few.get(name, 0) + BUFFERS_SPARE
    }
    unexpected = {
        name: sizes for name, sizes in grown.items() if not name.startswith(tuple(GROWING))
    }
    assert unexpected == {}, "\n".join(f"{name}: {sizes}" for name, sizes in unexpected.items())


@pytest.mark.whole
def test_a_report_reads_no_more_of_ten_times_the_older_history(place: Town) -> None:
    """Of the town that the test before this one has left: a month near the year's beginning, and
    one near its end, which have as many lines."""
    place.grow(MANY)
    today = datetime.now(UTC).date()
    reports = {days: month_report(place, today - timedelta(days=days)) for days in (340, 70)}

    (early_lines, early), (late_lines, late) = reports[340], reports[70]
    assert late_lines == pytest.approx(early_lines, rel=0.1) and late_lines > 300
    assert late < GROWTH_MAX * early


def month_report(place: Town, first: date) -> tuple[int, int]:
    """Its lines, and the buffers that it reads."""
    extent = Extent(
        place.shop.store.pk,
        "live",
        "",
        "EUR",
        midnight(first),
        midnight(first + timedelta(days=30)),
    )
    with reading() as read:
        sums = asset_sums(extent)
    with reading() as read_lines, connection.cursor() as cursor:
        cursor.execute(LINES, extent.arguments())
        lines = cursor.fetchall()
    assert len(lines) == sum(kind.entries for total in sums for kind in total.sums)
    return len(lines), sum((read.buffers + read_lines.buffers).values())
