"""A search term, parsed once: the ID, hash, address or amount that it may be, and its possible
beginnings.

Every comparison is `=` or a range, which an index serves beneath the row-level policies too;
`lower()` and `LIKE` are not (decision 205).
"""

import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from typing import TypeVar

from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import Model, Q, QuerySet
from django.utils.module_loading import import_string

from apps.core.messages.fields import is_uuid
from apps.core.typed_amounts import cents_meant

LENGTH_MAX = 100
PREFIX_MIN = 2
_REFERENCE = re.compile(r"[0-9A-Za-z]{16}", re.ASCII)
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+")
_MONEY_SIGNS = re.compile(
    r"[€$£¥]|kr\.?|\b(?:USD|EUR|GBP|HKD|SGD|JPY|DKK|CHF|SEK|NOK)\b", re.IGNORECASE
)
_LAST = "\U0010ffff"  # sorts behind whatever continues a prefix
NEWEST_MAX = 10_000
TYPED_MAX = 2_000
# Of lists whose rows cost more to look through: rows of one store lie the farther apart the more
# other stores there are.
LOOKED_THROUGH_MAX = 2_000
_ONE_BEHIND = "SELECT created_at FROM ({}) every LIMIT (SELECT 1) OFFSET (SELECT %s::bigint)"
Row = TypeVar("Row", bound=Model)


@cache
def _form(kind: str) -> Callable[[str], str]:
    """Function that finds the stored spelling of a text of this kind; empty when it is of
    another."""
    reader: Callable[[str], str] = import_string(settings.SEARCHED_FORMS[kind])
    return reader


@dataclass(frozen=True)
class SearchTerm:
    """`text` has no control characters and at most LENGTH_MAX characters."""

    text: str

    @classmethod
    def of(cls, typed: str) -> "SearchTerm":
        return cls(
            "".join(letter for letter in " ".join(typed.split()) if letter.isprintable())[
                :LENGTH_MAX
            ].strip()
        )

    @cached_property
    def id(self) -> uuid.UUID | None:
        return uuid.UUID(self.text) if is_uuid(self.text) else None

    @cached_property
    def tx_hash(self) -> str:
        """As it is stored."""
        return _form("tx_hash")(self.text)

    @cached_property
    def address(self) -> str:
        """As it is stored."""
        return _form("address")(self.text)

    @cached_property
    def email(self) -> str:
        return self.text if _EMAIL.fullmatch(self.text) else ""

    @cached_property
    def amounts(self) -> tuple[int, ...]:
        """Cents of an amount such as `24.90`, `€24,90` or `1,250 USD`: both readings of one that
        has two, none of another text."""
        return cents_meant(_MONEY_SIGNS.sub("", self.text))

    @property
    def is_exact(self) -> bool:
        """True if it is an id or a hash, which nothing else looks like."""
        return self.id is not None or bool(self.tx_hash)

    @property
    def names_one(self) -> bool:
        """True if it is, or may be, what names one record: the reference of a payment as well."""
        return self.is_exact or bool(_REFERENCE.fullmatch(self.text))

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The text as people may have written it, for no index folds case."""
        text = self.text
        return tuple(
            dict.fromkeys(
                (
                    text,
                    text.lower(),
                    text.upper(),
                    text.capitalize(),
                    text.title(),
                    text[:1].upper() + text[1:],
                )
            )
        )

    def begins(self, *columns: str) -> Q:
        """Condition that one of the columns begins with the term; nothing begins with an ID, a
        hash, an address or a single letter."""
        condition = Q(pk__in=[])
        for column in columns:
            for beginning in self.beginnings(column):
                condition |= beginning
        return condition

    def beginnings(self, column: str) -> list[Q]:
        """Conditions for one column, each spelling by itself: a range of its index."""
        if len(self.text) < PREFIX_MIN or self.is_exact or self.address:
            return []
        return [
            Q(**{f"{column}__gte": spelling, f"{column}__lt": spelling + _LAST})
            for spelling in self.spellings
        ]

    def names(self, label: str) -> bool:
        """True if a word of `label` begins with it, for tables in memory."""
        folded = label.casefold()
        text = self.text.casefold()
        return bool(text) and (folded.startswith(text) or f" {text}" in folded)


def beginning(
    rows: "QuerySet[Row]", term: SearchTerm, columns: Sequence[str], most: int | None = None
) -> "list[QuerySet[Row]]":
    """The rows of which a column begins with the term, `most` or NEWEST_MAX of each column and
    spelling, as the column's index has them: the text alone comes first, its newest rows before
    older ones."""
    most = NEWEST_MAX if most is None else most
    return [
        rows.filter(condition).order_by(column, "-created_at")[:most]
        for column in columns
        for condition in term.beginnings(column)
    ]


def newest(rows: "QuerySet[Row]", most: int | None = None) -> "QuerySet[Row]":
    """The newest of the rows, NEWEST_MAX or `most`, and those of the same moment as the last of
    them: what no index finds is looked for there."""
    oldest = _oldest_of(rows, NEWEST_MAX if most is None else most)
    return rows if oldest is None else rows.filter(created_at__gte=oldest)


def _oldest_of(rows: "QuerySet[Row]", most: int) -> datetime | None:
    """Time of the last of so many newest rows, None of fewer. A limit that isn't known lets
    PostgreSQL read in the order of an index."""
    bare = rows.select_related(None).order_by("-created_at", "-pk").values_list("created_at")
    try:
        text, values = bare.query.sql_with_params()
    except EmptyResultSet:
        return None
    with connections[rows.db].cursor() as cursor:
        cursor.execute(_ONE_BEHIND.format(text), [*values, most - 1])
        row = cursor.fetchone()
    return row[0] if row else None


def found_by_any(
    rows: "QuerySet[Row]",
    *lookups: Q,
    begins: tuple[SearchTerm, Sequence[str]] | None = None,
    in_newest: Q | None = None,
    most: int | None = None,
) -> "QuerySet[Row]":
    """The rows that one of the look-ups finds, the newest NEWEST_MAX of each, and those of which
    one of the columns begins with the term. Each is asked alone, so that its index answers; what
    none serves is looked for `in_newest` rows, NEWEST_MAX or `most`."""
    every = rows.select_related(None).order_by("-created_at")
    queries = [every.filter(lookup)[:NEWEST_MAX] for lookup in lookups]
    if begins is not None:
        queries += beginning(every, *begins)
    if in_newest is not None:
        queries.append(newest(every, most).filter(in_newest)[:NEWEST_MAX])
    if not queries:
        return rows.none()
    first, *rest = (query.values("pk") for query in queries)
    return rows.filter(pk__in=first.union(*rest))


def newest_found(
    rows: "QuerySet[Row]",
    limit: int,
    *lookups: Q,
    begins: tuple[SearchTerm, Sequence[str]] | None = None,
    most: int | None = None,
) -> list[Row]:
    """The newest rows that a look-up finds, or of which one of the columns begins with the term, as
    far as `most` or TYPED_MAX rows of each spelling go: this is asked while somebody types. Their
    keys are found before the rows are read, so that no row is read to be left out."""
    every = rows.select_related(None).order_by("-created_at")
    queries = [every.filter(lookup)[:limit] for lookup in lookups]
    if begins is not None:
        queries += beginning(every, *begins, TYPED_MAX if most is None else most)
    if not queries:
        return []
    if len(queries) == 1:
        matches = rows.filter(pk__in=queries[0].values("pk"))
        return list(matches.order_by("-created_at", "-pk")[:limit])
    first, *rest = (query.values_list("pk", "created_at") for query in queries)
    newest = first.union(*rest).order_by("-created_at", "-pk")[:limit]
    keys = [pk for pk, _ in newest]
    return list(rows.filter(pk__in=keys).order_by("-created_at", "-pk")) if keys else []
