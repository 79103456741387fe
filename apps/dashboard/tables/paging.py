"""Long lists, page by page. Most aren't counted: whether there is an older page is all that is
asked. Those of money are, up to a limit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict

from apps.core import list_pages
from apps.stores.models import Store

PER_PAGE = 50
COUNTED_PER_PAGE = 25
PAGE_MAX = 400


@dataclass(frozen=True)
class Window:
    """A page of a list: its rows, and the addresses of the pages beside it (None where there is
    none)."""

    rows: list[Any]
    newer: str | None
    older: str | None


def window(rows: "QuerySet[Any]", query: QueryDict, parameters: dict[str, str]) -> Window:
    """The page that `query` asks for; `parameters` are the filters that its neighbors share."""
    number = _number(query)
    page = list(list_pages.part(rows, (number - 1) * PER_PAGE, PER_PAGE + 1))
    filters = {name: value for name, value in parameters.items() if value}
    newer = urlencode({**filters, "page": number - 1}) if number > 1 else None
    older = (
        urlencode({**filters, "page": number + 1})
        if len(page) > PER_PAGE and number < PAGE_MAX
        else None
    )
    return Window(page[:PER_PAGE], newer, older)


@dataclass(frozen=True)
class CountedPage:
    """A page of a list that is counted: `query` has the address of another page."""

    number: int
    rows: list[Any]
    total: int
    has_next: bool
    query: Callable[..., str]

    def context(self) -> dict[str, object]:
        """Variables of `dashboard/lists/_pages.html`."""
        before = (self.number - 1) * COUNTED_PER_PAGE
        return {
            "total": min(self.total, list_pages.COUNTED_MAX),
            "has_more_than_counted": self.total > list_pages.COUNTED_MAX,
            "first": before + 1,
            "last": before + len(self.rows),
            "previous_query": self.query(page=self.number - 1) if self.number > 1 else None,
            "next_query": self.query(page=self.number + 1) if self.has_next else None,
        }


def of_one_store(rows: "QuerySet[Any]", store: Store) -> list[Any]:
    """Rows of this store, which is read with none of them."""
    found = list(rows.select_related(None))
    for row in found:
        row.store = store
    return found


def counted_page(
    rows: "QuerySet[Any]",
    query: QueryDict,
    page: Callable[..., str],
    read: Callable[[QuerySet[Any]], list[Any]] = list,
) -> CountedPage:
    """The page that `query` asks for."""
    number = _number(query)
    start = (number - 1) * COUNTED_PER_PAGE
    total = list_pages.counted(rows)
    page_rows = read(list_pages.part(rows, start, COUNTED_PER_PAGE + 1)) if total else []
    return CountedPage(
        number,
        page_rows[:COUNTED_PER_PAGE],
        total,
        len(page_rows) > COUNTED_PER_PAGE and number < PAGE_MAX,
        page,
    )


def _number(query: QueryDict) -> int:
    text = query.get("page", "")
    return (
        min(max(int(text), 1), PAGE_MAX)
        if text.isascii() and text.isdigit() and len(text) <= 6
        else 1
    )
