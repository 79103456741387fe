"""Lists: the columns that a list has, which of them a person sees, the same as CSV, and filters
saved under a name.

A list is one `Listing`: a table of columns, and one function that reads what they show of a whole
page at once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from apps.core.db.replica import reads_may_lag
from apps.core.db.streams import FETCH
from apps.core.errors import NotFound
from apps.dashboard.site.views import Answer, PageRequest, Refusals, sentences
from apps.dashboard.tables.exports import csv_answer, exported
from apps.stores.lists import (
    QUERY_MAX,
    ListSetup,
    SavedFilter,
    choose_columns,
    delete_filter,
    save_filter,
    setup_of,
)

ALL = "all"
_WIDE = mark_safe(' class="wide-cell"')  # ours alone
Rows = Sequence[Any]
Read = Callable[[PageRequest, Rows, frozenset[str]], Rows]


@dataclass(frozen=True)
class Column:
    """`cell` is what a page shows of a row (HTML that is safe, or text), `csv` the columns of a
    file by name, each a plain value.

    The first column of a list names the row and is always shown. On a phone only those `on_phone`
    are, one that `is_wide` with a line of its own, one with a `phone_label` with that before it.
    """

    key: str
    label: str
    cell: Callable[[Any], str]
    csv: Mapping[str, Callable[[Any], object]]
    is_number: bool = False
    is_default: bool = True
    on_phone: bool = False
    is_wide: bool = False
    phone_label: str = ""

    @property
    def words(self) -> str:
        """Its label in the reader's language."""
        return gettext(self.label)

    @property
    def tag(self) -> SafeString:
        """Opening tag of its cell, unless it is the first one."""
        kinds = (
            ("number", self.is_number),
            ("wide-cell", self.is_wide),
            ("at-length", not self.on_phone),
        )
        label = format_html(' data-label="{}"', self.phone_words) if self.phone_label else ""
        return format_html(
            '<td class="{}"{}>', " ".join(kind for kind, is_so in kinds if is_so), label
        )

    @property
    def row_tag(self) -> SafeString:
        """Opening tag of its cell in the first column."""
        return format_html('<th scope="row"{}>', _WIDE if self.is_wide else "")

    @property
    def phone_words(self) -> str:
        return gettext(self.phone_label)


@dataclass(frozen=True)
class Tab:
    """A link above a list that narrows it."""

    name: str
    query: str
    is_current: bool


@dataclass(frozen=True)
class Table:
    """A page of a list as its templates take it. `parameters` are the filters in its addresses."""

    noun: str
    columns: tuple[Column, ...]
    rows: list[list[tuple[Column, str]]]
    choices: list[tuple[Column, bool]]
    filters: tuple[SavedFilter, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def rows_html(self) -> SafeString:
        """Its rows as HTML: hundreds of cells, which a template would take twenty times as long
        for."""
        first, *others = self.columns
        head = first.row_tag
        tags = [column.tag for column in others]
        written = []
        for (_, name), *cells in self.rows:
            pairs = zip(tags, cells, strict=True)
            rest = "".join([f"{tag}{conditional_escape(cell)}</td>" for tag, (_, cell) in pairs])
            written.append(f"<tr>{head}{conditional_escape(name)}</th>{rest}</tr>")
        return SafeString("\n".join(written))  # each part is escaped

    @cached_property
    def query(self) -> str:
        return urlencode(self.parameters)

    @cached_property
    def current(self) -> str:
        """The name of the saved filter that is looked at."""
        return next((saved.name for saved in self.filters if saved.query == self.query), "")

    @property
    def export_url(self) -> str:
        return _address(f"{self.noun}_export", self.query)

    @property
    def export_all_url(self) -> str:
        return _address(f"{self.noun}_export", urlencode({**self.parameters, "columns": ALL}))


@dataclass(frozen=True)
class Listing:
    """`noun` names its page; the page of its CSV is `<noun>_export`.

    `read` makes of models the rows that columns are asked for, in a number of statements that
    doesn't depend on how many there are; it gets the columns that are wanted. Without it a model is
    a row.
    """

    noun: str
    columns: tuple[Column, ...]
    read: Read = field(default=lambda request, models, columns: models)

    def table(
        self, request: PageRequest, models: Rows, parameters: Mapping[str, str] | None = None
    ) -> Table:
        setup = setup_of(request.member, self.noun)
        columns = self.shown(setup)
        rows = self.read(request, models, _keys(columns))
        choices = [(column, column in columns) for column in self.columns[1:]]
        cells = [[(column, column.cell(row)) for column in columns] for row in rows]
        return Table(self.noun, columns, cells, choices, setup.filters, dict(parameters or {}))

    def part(self, request: PageRequest, models: Rows, keys: Sequence[str]) -> Table:
        """A few rows in columns that the page chooses, whatever people have chosen for the list."""
        columns = tuple(column for column in self.columns if column.key in keys)
        rows = self.read(request, models, _keys(columns))
        return Table(
            self.noun,
            columns,
            [[(column, column.cell(row)) for column in columns] for row in rows],
            [],
            (),
        )

    def shown(self, setup: ListSetup) -> tuple[Column, ...]:
        """In the order of the table, whatever the order in which they were chosen."""
        chosen = frozenset(setup.columns) & _keys(self.columns)
        is_shown = (
            (lambda column: column.key in chosen) if chosen else (lambda column: column.is_default)
        )
        return (self.columns[0], *(column for column in self.columns[1:] if is_shown(column)))

    @reads_may_lag("a file for later")
    def csv(self, request: PageRequest, rows: "QuerySet[Any]") -> Answer:
        """The filtered list in the columns that this person sees, or in all of them with
        `columns=all`."""
        is_all = request.GET.get("columns") == ALL
        columns = self.columns if is_all else self.shown(setup_of(request.member, self.noun))
        values = [value for column in columns for value in column.csv.values()]
        keys = _keys(columns)
        read = (row for part in parts(exported(rows)) for row in self.read(request, part, keys))
        names = [name for column in columns for name in column.csv]
        cells = ([value(row) for value in values] for row in read)
        return csv_answer(request, self.noun, names, cells, back=_address(self.noun, ""))


LISTINGS: dict[str, Listing] = {}


def listing(entry: Listing) -> Listing:
    """A list whose columns and filters people may set up."""
    LISTINGS[entry.noun] = entry
    return entry


def _keys(columns: Iterable[Column]) -> frozenset[str]:
    return frozenset(column.key for column in columns)


def parts(models: Iterable[Any]) -> Iterator[list[Any]]:
    """So many at a time that what is shown beside them is read in few statements."""
    rest = iter(models)
    while part := list(islice(rest, FETCH)):
        yield part


def _address(name: str, query: str) -> str:
    return reverse(f"dashboard:{name}") + (f"?{query}" if query else "")


def set_up(request: PageRequest) -> HttpResponse:
    """Choose columns, save a filter or delete one, then back to the list as it was."""
    chosen = LISTINGS.get(request.POST.get("list", ""))
    if chosen is None or getattr(request, "member", None) is None:
        raise NotFound
    query = _query(request.POST.get("query", ""))
    try:
        _set_up(request, chosen, query)
    except Refusals as refusal:
        for sentence in sentences(refusal):
            messages.error(request, sentence)
    return HttpResponseRedirect(_address(chosen.noun, query), status=303)


def _set_up(request: PageRequest, chosen: Listing, query: str) -> None:
    act = request.POST.get("act", "")
    member = request.member
    if act == "columns":
        keys = frozenset(request.POST.getlist("column"))
        choose_columns(
            member,
            chosen.noun,
            tuple(column.key for column in chosen.columns if column.key in keys),
        )
    elif act == "reset":
        choose_columns(member, chosen.noun, ())
    elif act == "save":
        save_filter(member, chosen.noun, request.POST.get("name", ""), query)
    elif act == "delete":
        delete_filter(member, chosen.noun, request.POST.get("name", ""))


def _query(text: str) -> str:
    """A list's own query, written anew and without its page."""
    try:
        pairs = parse_qsl(text[:QUERY_MAX], max_num_fields=20)
    except ValueError:
        return ""
    return urlencode([(name, value) for name, value in pairs if name != "page"])
