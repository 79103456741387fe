"""What people and programs read costs by what it shows, not by all there ever was: of eight times
the rows no page, list, search or summary reads more buffers, but for those that are named."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

import pytest
from django.test import Client

from apps.billing import selectors as billing_selectors
from apps.core import buckets, list_pages, searching
from apps.core.staff import lists as staff_lists
from apps.core.staff import paging as staff_paging
from apps.core.staff.pages import ReadOnly
from apps.dashboard import (
    exports,
    inbox,
    money_lists,
    paging,
    webhook_endpoints,
)
from apps.ledger import statements as ledger_statements
from apps.reports import bookings
from apps.webhooks import selectors as webhook_selectors
from tests import make
from tests.console.test_staff_roles import signed_in
from tests.dashboard.browse import Browser
from tests.growth import pages
from tests.growth.buffers import reading
from tests.growth.reports import month_report
from tests.growth.seed import GrowingTown, town

# Settings of a session, and VACUUM, which a pooler refuses.
pytestmark = pytest.mark.direct

FEW = 2_000
MANY = 8 * FEW
GROWTH_MAX = 1.3
# Each index that a page goes through is a level deeper.
BUFFERS_SPARE = 100
# What is counted, summed, looked through or shown is so few here that both sizes have more.
CAP = 10
PAGE = 5
CAPS = (
    (list_pages, "COUNTED_MAX", CAP),
    (searching, "NEWEST_MAX", CAP),
    (searching, "LOOKED_THROUGH_MAX", CAP),
    (exports, "EXPORT_MAX", CAP),
    (money_lists, "SUMMED_MAX", CAP),
    (bookings, "SUMMED_MAX", CAP),
    (ledger_statements, "SCAN_MAX", CAP),
    (ledger_statements, "PAGE_MAX", CAP),
    (inbox, "KIND_MAX", CAP),
    (billing_selectors, "FOUND_MAX", CAP),
    (webhook_endpoints, "SHOWN", PAGE),
    (webhook_selectors, "LOOKED_AT_MAX", CAP),
    (paging, "PER_PAGE", PAGE),
    (paging, "COUNTED_PER_PAGE", PAGE),
    (staff_paging, "COUNTED_MAX", CAP),
    (staff_lists, "FOUND_MAX", PAGE),
    (ReadOnly, "list_per_page", PAGE),
)
# Those that still read more of more rows, and of what. It may only get shorter.
GROWING = {
    "api billing/subscriptions*": "all subscriptions are answered, as the contract says",
    "dashboard requests[?]status=4": "the log is looked through for the few that were rejected",
}


@pytest.fixture(scope="module")
def place(django_db_setup: None, django_db_blocker: Any) -> Iterator[GrowingTown]:
    with django_db_blocker.unblock(), town(MANY) as built:
        yield built


def asks(place: GrowingTown) -> list[pages.Ask]:
    people = Browser(place.shop.owner).prove()
    clerk = signed_in(make.clerk("finance"))
    return [
        *pages.dashboard(place.world, people),
        *pages.api(place.world),
        *pages.hosted(place.world, Client()),
        *pages.platform(place.world),
        *pages.staff(clerk),
    ]


def measured(place: GrowingTown) -> dict[str, int]:
    """Buffers by what was asked."""
    found = {}
    for ask in asks(place):
        buckets.client().flushdb()
        with reading() as read:
            answer = ask.get()
        assert answer.status_code in pages.ANSWERS, f"{ask.name}: {answer.status_code}"
        found[ask.name] = sum(read.buffers.values())
    return found


def allowed(buffers: int) -> float:
    return GROWTH_MAX * buffers + BUFFERS_SPARE


@pytest.mark.whole  # in the suite what runs by itself, and the plans of lists in tests/dashboard
def test_what_is_asked_reads_no_more_of_eight_times_the_rows(
    place: GrowingTown, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place_of, name, most in CAPS:
        monkeypatch.setattr(place_of, name, most)
    place.grow(FEW)
    place.put_in_order()
    few = measured(place)
    place.grow(MANY)
    place.put_in_order()
    many = measured(place)

    grown = {
        name: (few.get(name, 0), buffers)
        for name, buffers in many.items()
        if buffers > allowed(few.get(name, 0))
    }
    unexpected = {
        name: sizes
        for name, sizes in grown.items()
        if not any(fnmatchcase(name, pattern) for pattern in GROWING)
    }
    assert unexpected == {}, "\n".join(f"{name}: {sizes}" for name, sizes in unexpected.items())


@pytest.mark.whole
def test_a_report_reads_no_more_of_ten_times_the_older_history(place: GrowingTown) -> None:
    """Of the town that the test before this one has left: a month near the year's beginning, and
    one near its end, which have as many lines."""
    place.grow(MANY)
    today = datetime.now(UTC).date()
    reports = {days: month_report(place, today - timedelta(days=days)) for days in (340, 70)}

    (early_lines, early), (late_lines, late) = reports[340], reports[70]
    assert late_lines == pytest.approx(early_lines, rel=0.1) and late_lines > 300
    assert late < GROWTH_MAX * early
