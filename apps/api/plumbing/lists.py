"""Paging: the page and size that a query asks for; a page past the end is empty. A feed goes on
from a record instead.

A total is exact up to COUNTED_MAX. Beyond, it is what is known: at least one row after each page
that has one, so that anyone who goes on while there are pages reads all.
"""

from collections.abc import Callable
from typing import TypeVar

from django.db import models

from apps.api.plumbing.queries import FeedQuery, PagedQuery
from apps.core import list_pages
from apps.core.messages.documents import Feed, ListPage, PageFigures, Paginated
from apps.core.messages.fields import is_uuid

Item = TypeVar("Item")
Row = TypeVar("Row", bound=models.Model)
# Rows by their place and number, with how many there are in all, counted to the cap.
Read = Callable[[int, int], tuple[list[Row], int]]


def page(
    query: PagedQuery, rows: "models.QuerySet[Row]", document: Callable[[Row], Item]
) -> ListPage[Item]:
    return page_by(query, _reader(rows), document)


def page_by(
    query: PagedQuery, read: "Read[Row]", document: Callable[[Row], Item]
) -> ListPage[Item]:
    items, figures = _read(query, read, document)
    return ListPage(data=items, meta=figures)


def paginated(
    query: PagedQuery, rows: "models.QuerySet[Row]", document: Callable[[Row], Item]
) -> Paginated[Item]:
    items, figures = _read(query, _reader(rows), document)
    return Paginated(data=items, pagination=figures)


def feed(
    query: FeedQuery, rows: "models.QuerySet[Row]", document: Callable[[Row], Item]
) -> Feed[Item]:
    """Newest first. What is older than an unknown record is nothing: anyone who asks again and
    again would begin anew for ever."""
    page = rows.order_by("-created_at", "-pk")
    if query.before is not None:
        last = (
            rows.filter(pk=query.before).values_list("created_at", "pk").first()
            if is_uuid(query.before)
            else None
        )
        if last is None:
            return Feed(data=[], has_more=False)
        at, id = last
        page = page.filter(created_at__lte=at).exclude(created_at=at, pk__gte=id)
    read = list(page[: query.per_page + 1])
    return Feed(
        data=[document(row) for row in read[: query.per_page]], has_more=len(read) > query.per_page
    )


def _reader(rows: "models.QuerySet[Row]") -> "Read[Row]":
    def read(first: int, size: int) -> tuple[list[Row], int]:
        total = list_pages.counted(rows)
        is_past = first >= total <= list_pages.COUNTED_MAX
        return [] if is_past else list(list_pages.part(rows, first, size)), total

    return read


def _read(
    query: PagedQuery, read: "Read[Row]", document: Callable[[Row], Item]
) -> tuple[list[Item], PageFigures]:
    first = (query.page - 1) * query.per_page
    is_beyond = first + query.per_page > list_pages.COUNTED_MAX
    items, total = read(first, query.per_page + is_beyond)
    if items and total > list_pages.COUNTED_MAX:
        total = max(total, first + len(items))
    pages = -(-total // query.per_page)
    figures = PageFigures(page=query.page, per_page=query.per_page, total=total, total_pages=pages)
    return [document(row) for row in items[: query.per_page]], figures
