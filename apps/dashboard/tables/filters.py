"""Filters of a list, as they are in its address. What they can't mean is left out; days are the
reader's, inclusive."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar, Self, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from django.http import QueryDict

from apps.core.messages.fields import parse_date
from apps.dashboard.tables import days

Row = TypeVar("Row", bound=Model)
TEXT_MAX = 255


@dataclass(frozen=True)
class Filters:
    """`NAMES` says what an attribute is called in the address, where it isn't the same. A list with
    more to ask has a class of its own."""

    status: str = ""
    q: str = ""
    coin: str = ""
    first_day: str = ""
    last_day: str = ""

    NAMES: ClassVar[Mapping[str, str]] = {"first_day": "from", "last_day": "to"}

    @classmethod
    def of(cls, query: QueryDict, statuses: Iterable[str]) -> Self:
        status = query.get("status", "")
        first, last = days_of(query)
        return cls(
            status if status in statuses else "",
            searched(query),
            query.get("coin", "")[:20].replace("\x00", ""),
            first,
            last,
        )

    @cached_property
    def parameters(self) -> dict[str, str]:
        """As it is in the address."""
        values = {
            self.NAMES.get(field.name, field.name): getattr(self, field.name)
            for field in fields(self)
        }
        return {name: value for name, value in values.items() if value}

    def query(self, **changes: str | int) -> str:
        """The address of the same list with something changed."""
        return urlencode(
            {name: value for name, value in {**self.parameters, **changes}.items() if value}
        )

    @property
    def is_any(self) -> bool:
        return bool(self.parameters)

    def within(self, rows: "QuerySet[Row]") -> "QuerySet[Row]":
        """Those that were made in the days."""
        first = parse_date(self.first_day)
        last = parse_date(self.last_day)
        if first is not None:
            rows = rows.filter(created_at__gte=days.begin(first))
        if last is not None and (until := days.end(last)) is not None:
            rows = rows.filter(created_at__lt=until)
        return rows


def days_of(query: QueryDict) -> tuple[str, str]:
    first, last = (
        day if parse_date(day) is not None else ""
        for day in (query.get("from", ""), query.get("to", ""))
    )
    return first, last


def searched(query: QueryDict) -> str:
    return "".join(
        letter for letter in query.get("q", "").strip()[:TEXT_MAX] if letter.isprintable()
    )
