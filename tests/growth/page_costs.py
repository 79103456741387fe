"""Database reads of pages, lists, searches and summaries, with caps so low that few rows reach
them."""

from fnmatch import fnmatchcase

import pytest
from django.test import Client

from apps.billing import selectors as billing_selectors
from apps.core import list_pages, searching
from apps.dashboard.notices import inbox
from apps.dashboard.tables import exports, money_lists, paging
from apps.ledger import statements as ledger_statements
from apps.reports import bookings
from apps.staff import lists as staff_lists
from apps.staff.pages import ReadOnly
from apps.staff.plumbing import paging as staff_paging
from apps.webhooks import selectors as webhook_selectors
from tests import make
from tests.dashboard.browse import Browser
from tests.growth import pages
from tests.growth.buffers import GROWTH_MAX, Known, reading
from tests.growth.seed import GrowingTown
from tests.staff.test_roles import signed_in

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
    (inbox, "KEPT_SECONDS", 3600),
    (billing_selectors, "FOUND_MAX", CAP),
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
}


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


def in_question(many: dict[str, int]) -> set[str]:
    """Rows that aren't allowed whatever few rows take: all else needn't be asked of them."""
    return {name for name, buffers in many.items() if buffers > allowed(0)}


def measured(place: GrowingTown, names: set[str] | None = None) -> dict[str, int]:
    """Buffers by what was asked: of all, or of these alone."""
    found = {}
    known: Known = {}
    with pytest.MonkeyPatch.context() as patch:
        for place_of, name, most in CAPS:
            patch.setattr(place_of, name, most)
        inbox._counting.cache_clear()  # a statement that is kept has the cap of its first reader
        home = Browser(place.shop.owner).prove().get()  # from here on its number is kept
        assert home.status_code == 200
        for ask in asks(place):
            if names is not None and ask.name not in names:
                continue
            pages.forget_calls()
            with reading(known) as read:
                answer = ask.get()
            assert answer.status_code in pages.ANSWERS, f"{ask.name}: {answer.status_code}"
            found[ask.name] = sum(read.buffers.values())
    inbox._counting.cache_clear()
    return found


def allowed(buffers: int) -> float:
    return GROWTH_MAX * buffers + BUFFERS_SPARE


def grown(few: dict[str, int], many: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Readings that grow with the rows, each with what it read at both sizes."""
    return {
        name: (few.get(name, 0), buffers)
        for name, buffers in many.items()
        if buffers > allowed(few.get(name, 0))
        and not any(fnmatchcase(name, pattern) for pattern in GROWING)
    }
