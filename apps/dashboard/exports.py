"""Lists as CSV files: at most so many rows, every amount a plain decimal and no cell a formula."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse

from apps.core import clock
from apps.core.db.replica import reads_may_lag
from apps.core.db.streams import IN_MEMORY_BYTES, models_of
from apps.core.documents import spreadsheet
from apps.dashboard.plumbing import PageRequest

EXPORT_MAX = 50_000


@reads_may_lag("a file for later")
def csv_file(
    request: PageRequest,
    noun: str,
    columns: Sequence[str],
    rows: "QuerySet[Any]",
    cells: Callable[[Any], Sequence[object]],
) -> FileResponse:
    """The rows in their order; `cells` are those of one row."""
    return csv_answer(request, noun, columns, (cells(row) for row in models_of(rows, EXPORT_MAX)))


def csv_answer(
    request: PageRequest, noun: str, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> FileResponse:
    """The file is whole before its first byte leaves: one that can't be made is an error, never a
    short file."""
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115  # the answer closes it
    file.writelines(line.encode() for line in spreadsheet.lines(columns, rows))
    size = file.tell()
    file.seek(0)
    name = f"{noun}-{request.access.mode}-{clock.real_now().date().isoformat()}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(size)}
    return FileResponse(file, content_type="text/csv; charset=utf-8", headers=headers)
