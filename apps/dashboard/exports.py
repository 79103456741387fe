"""Lists as CSV files: streamed, at most so many rows, every amount a plain decimal and no cell a formula."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from apps.core import clock, spreadsheet
from apps.dashboard.plumbing import PageRequest

EXPORT_MAX, CHUNK = 50_000, 1000


def csv_file(
    request: PageRequest, noun: str, columns: Sequence[str], rows: "QuerySet[Any]", cells: Callable[[Any], Sequence[object]]
) -> StreamingHttpResponse:
    """The rows in their order; `cells` are those of one row."""
    name = f"{noun}-{request.access.mode}-{clock.real_now().date().isoformat()}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(spreadsheet.lines(columns, _told(rows, cells)), content_type="text/csv; charset=utf-8", headers=headers)


def _told(rows: "QuerySet[Any]", cells: Callable[[Any], Sequence[object]]) -> Iterator[Sequence[object]]:
    for row in rows[:EXPORT_MAX].iterator(chunk_size=CHUNK):
        yield cells(row)
