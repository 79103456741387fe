"""Paging: an unreadable or too small page is the first, `per_page` stays within 1 to 100, a page past the end is empty."""

import re
from collections.abc import Callable
from typing import Any

from django.db import models
from rest_framework.request import Request

PER_PAGE_MAX = 100
_INTEGER = re.compile(r"-?[0-9]{1,40}", re.ASCII)


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and _INTEGER.fullmatch(text) else default


def page_of(
    request: Request, rows: "models.QuerySet[Any]", document: Callable[[Any], object], per_page: int
) -> tuple[list[object], dict[str, int]]:
    """The documents of one page and the page's figures."""

    def read(first: int, size: int) -> tuple[list[Any], int]:
        total = rows.count()
        return [] if first >= total else list(rows[first : first + size]), total

    return page_by(request, read, document, per_page)


def page_by(
    request: Request, read: Callable[[int, int], tuple[list[Any], int]], document: Callable[[Any], object], per_page: int
) -> tuple[list[object], dict[str, int]]:
    """The same, of rows that are read by their place and number, with how many there are in all."""
    page = min(max(1, _integer(request.query_params.get("page"), 1)), 2**53)
    size = min(max(1, _integer(request.query_params.get("per_page"), per_page)), PER_PAGE_MAX)
    items, total = read((page - 1) * size, size)
    figures = {"page": page, "per_page": size, "total": total, "total_pages": -(-total // size)}
    return [document(row) for row in items], figures


def data_and_meta(items: list[object], figures: dict[str, int]) -> dict[str, Any]:
    return {"data": items, "meta": figures}


def data_and_pagination(items: list[object], figures: dict[str, int]) -> dict[str, Any]:
    return {"data": items, "pagination": figures}
