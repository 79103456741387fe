"""CSV as a stream. A cell that a spreadsheet would read as a formula gets an apostrophe in front; a
plain number is none.

Spreadsheets look past spaces, invisible characters and line breaks, and read full-width signs as
plain ones: so do we.
"""

import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

_FORMULA = ("=", "+", "-", "@", "\N{MINUS SIGN}")
# A tab or a line break in front makes a spreadsheet split or skip, whatever comes after it.
_BREAKS = ("\t", "\r", "\n")
_INVISIBLE = ("C", "Z")
_NUMBER = re.compile(r"-?[0-9]+([.,][0-9]+)?", re.ASCII)


def safe_cell(value: object) -> str:
    """The text of a value, with an apostrophe in front of what a spreadsheet could calculate."""
    text = "" if value is None else str(value)
    if not text or text.isalnum() or _NUMBER.fullmatch(text):
        return text
    return f"'{text}" if text.startswith(_BREAKS) or _begins_a_formula(text) else text


def _begins_a_formula(text: str) -> bool:
    """The first character that shows, in its plain form, begins a formula."""
    for sign in text:
        if unicodedata.category(sign).startswith(_INVISIBLE):
            continue
        return unicodedata.normalize("NFKC", sign).startswith(_FORMULA)
    return False


class _Echo:
    """csv.writer wants a file; this one hands each line back."""

    def write(self, line: str) -> str:
        return line


def lines(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    separator: str = ",",
    has_mark: bool = True,
) -> Iterator[str]:
    """The lines of a file with a header, RFC 4180, beginning with the mark that makes spreadsheets
    read UTF-8, but for programs that take it for a part of the first name."""
    writer = csv.writer(_Echo(), delimiter=separator)
    yield ("\ufeff" if has_mark else "") + writer.writerow(header)
    for row in rows:
        yield writer.writerow([safe_cell(value) for value in row])
