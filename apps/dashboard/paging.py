"""Long lists, page by page, without counting them: whether there is an older page is all that is
asked."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict

from apps.core import counting

PER_PAGE = 50
PAGE_MAX = 400


@dataclass(frozen=True)
class Window:
    """One page of a list: its rows, and the addresses of the pages beside it (None where there is
    none)."""

    rows: list[Any]
    newer: str | None
    older: str | None


def window(rows: "QuerySet[Any]", query: QueryDict, parameters: dict[str, str]) -> Window:
    """The page that `query` asks for; `parameters` are the filters that its neighbors share."""
    text = query.get("page", "")
    number = (
        min(max(int(text), 1), PAGE_MAX)
        if text.isascii() and text.isdigit() and len(text) < 6
        else 1
    )
    page = list(counting.part(rows, (number - 1) * PER_PAGE, PER_PAGE + 1))
    filters = {name: value for name, value in parameters.items() if value}
    newer = urlencode({**filters, "page": number - 1}) if number > 1 else None
    older = (
        urlencode({**filters, "page": number + 1})
        if len(page) > PER_PAGE and number < PAGE_MAX
        else None
    )
    return Window(page[:PER_PAGE], newer, older)
