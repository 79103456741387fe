"""Paging: the page and size that a query asks for; a page past the end is empty."""

from collections.abc import Callable
from typing import TypeVar

from django.db import models

from apps.api.plumbing.queries import Paged
from apps.core.documents import Page, PageFigures, Paginated

Item = TypeVar("Item")
Row = TypeVar("Row", bound=models.Model)
# Rows by their place and number, with how many there are in all.
Read = Callable[[int, int], tuple[list[Row], int]]


def page(asked: Paged, rows: "models.QuerySet[Row]", document: Callable[[Row], Item]) -> Page[Item]:
    return page_by(asked, _reader(rows), document)


def page_by(asked: Paged, read: "Read[Row]", document: Callable[[Row], Item]) -> Page[Item]:
    items, figures = _read(asked, read, document)
    return Page(data=items, meta=figures)


def paginated(asked: Paged, rows: "models.QuerySet[Row]", document: Callable[[Row], Item]) -> Paginated[Item]:
    items, figures = _read(asked, _reader(rows), document)
    return Paginated(data=items, pagination=figures)


def _reader(rows: "models.QuerySet[Row]") -> "Read[Row]":
    def read(first: int, size: int) -> tuple[list[Row], int]:
        total = rows.count()
        return [] if first >= total else list(rows[first : first + size]), total

    return read


def _read(asked: Paged, read: "Read[Row]", document: Callable[[Row], Item]) -> tuple[list[Item], PageFigures]:
    items, total = read((asked.page - 1) * asked.per_page, asked.per_page)
    pages = -(-total // asked.per_page)
    figures = PageFigures(page=asked.page, per_page=asked.per_page, total=total, total_pages=pages)
    return [document(row) for row in items], figures
