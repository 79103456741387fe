"""CSV as a stream. A cell that a spreadsheet would read as a formula gets an apostrophe in front; a
plain number is none."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)


def safe_cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


class _Echo:
    """csv.writer wants a file; this one hands each line back."""

    def write(self, line: str) -> str:
        return line


def lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a file with a header, RFC 4180, beginning with the mark that makes spreadsheets
    read UTF-8."""
    writer = csv.writer(_Echo())
    yield "\ufeff" + writer.writerow(header)
    for row in rows:
        yield writer.writerow([safe_cell(value) for value in row])
