"""Lists as CSV files: at most so many rows, every amount a plain decimal and no cell a formula.

A file is whole or isn't made: who asks for more rows reads so on a page.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import FileResponse

from apps.core import clock
from apps.core.db.replica import reads_may_lag
from apps.core.db.streams import IN_MEMORY_BYTES, models_of
from apps.core.documents import spreadsheet
from apps.core.errors import Failure
from apps.core.web.refusals import status_of
from apps.dashboard.site.views import Answer, PageRequest, show

EXPORT_MAX = 50_000
# What a file is asked for beside the filters of its list.
_OF_FILES = frozenset({"columns", "page"})


class TooManyRows(Failure):
    """A file would have more rows than EXPORT_MAX."""

    message = "Too many rows for one file"


@reads_may_lag("a file for later")
def csv_file(
    request: PageRequest,
    noun: str,
    columns: Sequence[str],
    rows: "QuerySet[Any]",
    cells: Callable[[Any], Sequence[object]],
    *,
    back: str,
) -> Answer:
    """The rows in their order; `cells` are those of one row."""
    written = (cells(row) for row in exported(rows))
    return csv_answer(request, noun, columns, written, back=back)


def exported(rows: "QuerySet[Any]") -> Iterator[Any]:
    """Every row, or TooManyRows before the first."""
    keys = list(rows.values_list("pk", flat=True)[: EXPORT_MAX + 1])
    if len(keys) > EXPORT_MAX:
        raise TooManyRows
    yield from models_of(rows, keys)


def csv_answer(
    request: PageRequest,
    noun: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    back: str,
) -> Answer:
    """The file is whole before its first byte leaves: one that can't be made is an error, never a
    short file. One of too many rows is a page that leads `back` to its list, as it is filtered."""
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115  # the answer closes it
    try:
        file.writelines(line.encode() for line in spreadsheet.lines(columns, _limited(rows)))
    except TooManyRows as refusal:
        file.close()
        return _too_many(request, back, refusal)
    size = file.tell()
    file.seek(0)
    name = f"{noun}-{request.access.mode}-{clock.real_now().date().isoformat()}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(size)}
    return FileResponse(file, content_type="text/csv; charset=utf-8", headers=headers)


def _limited(rows: Iterable[Sequence[object]]) -> Iterator[Sequence[object]]:
    for count, row in enumerate(rows, 1):
        if count > EXPORT_MAX:
            raise TooManyRows
        yield row


def _too_many(request: PageRequest, back: str, refusal: TooManyRows) -> Answer:
    filters = [(name, value) for name, value in request.GET.items() if name not in _OF_FILES]
    context = {"rows_max": EXPORT_MAX, "back": f"{back}?{urlencode(filters)}" if filters else back}
    return show(request, "dashboard/exports/too_many.html", context, status=status_of(refusal))
