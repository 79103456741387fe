"""Query parameters that can't be read: every paged list answers with a page, every range of days
with days, and none with a 500."""

from typing import Any

import pytest

from apps.access.scopes import ALL
from apps.api.plumbing.queries import PagedQuery
from apps.api.urls import ROUTES
from apps.core.redis import buckets
from apps.stores.services import change_store
from tests.cast import Api, Shop
from tests.whole import usually

PAGED = [
    route.path
    for route in ROUTES
    if route.view.query is not None and issubclass(route.view.query, PagedQuery)
]
# query -> page, per_page (0: the list's own)
PAGES: list[tuple[str, int, int]] = [
    *[
        (f"page={text}", 1, 0)
        for text in (
            "0",
            "-1",
            "abc",
            "",
            "1.5",
            "1e2",
            "%00",
            "%EF%BC%91",
            "null",
            "0x1",
            "+1",
            "%20",
            "1_0",
        )
    ],
    ("page=99999999999999999999", 0, 0),
    *[(f"per_page={text}", 1, 1) for text in ("0", "-1")],
    *[(f"per_page={text}", 1, 100) for text in ("101", "99999999999999999999")],
    *[(f"per_page={text}", 1, 0) for text in ("abc", "", "%00", "2.5")],
    ("page=7&per_page=3", 7, 3),
]
# All lists read it by the same rules; what is told of the first is told again of each.
OF_EACH_LIST = usually(
    short=[row for row in PAGES if row[0] in ("page=%00", f"page={'9' * 20}", "per_page=101")],
    whole=PAGES,
)


@pytest.mark.parametrize("path", PAGED)
def test_every_list_turns_an_odd_page_into_a_page(bakery: Shop, path: str) -> None:
    change_store(bakery.store, is_platform=True)
    api = (
        Api(bakery.secrets["test_agent"])
        if path.startswith("agentic/")
        else bakery.with_scopes(*ALL)
    )
    own = figures(api.get(f"/{path}"))["per_page"]
    for query, page, per_page in PAGES if path == PAGED[0] else OF_EACH_LIST:
        buckets.client().flushdb()
        told = figures(api.get(f"/{path}?{query}"))
        assert told["per_page"] == (per_page or own), query
        assert told["page"] == page or (not page and told["page"] > 1), query


def figures(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.content
    body = answer.json()
    told: dict[str, Any] = body.get("meta") or body["pagination"]
    return told


# What a range of days becomes, counted to its end; none: the default.
RANGES: list[tuple[str, str | None, int]] = [
    ("from=2026-02-29", None, 30),
    ("from=2026-02-02&to=2026-01-01", "2026-01-01", 1),
    ("from=abc&to=%00", None, 30),
    ("from=0000-01-01", None, 30),
    ("from=0001-01-01&to=9999-12-31", "9999-12-31", 366),
    ("from=2026-W01-1", None, 30),
    ("from=20260101", None, 30),
    ("to=2026-02-30", None, 30),
    ("from=2026-01-01T00:00:00&to=2026-01-05", "2026-01-05", 30),
    ("from=&to=", None, 30),
    ("to=10000-01-01", None, 30),
    ("from=-0001-01-01", None, 30),
]


def test_every_range_of_days_is_bounded_and_none_is_refused(bakery: Shop) -> None:
    today = str(bakery.access().now().date())
    for query, last, days in RANGES:
        buckets.client().flushdb()
        answer = bakery.test.get(f"/payments/summary?{query}")
        assert answer.status_code == 200, query
        body = answer.json()
        assert (body["range"]["to"], len(body["timeseries"])) == (last or today, days), query
