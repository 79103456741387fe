"""Queries of GET requests, as one frozen class per path: its fields are text as it came, or None.

Nothing is refused here: what can't be read is as good as not asked. A field without a default is a
parameter that has to be there, which the service says that is called.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Self

from django.conf import settings
from msgspec import Meta, Struct, field
from msgspec.structs import fields

from apps.core.clock import real_now
from apps.core.messages.documents import Day
from apps.core.messages.fields import parse_date

PER_PAGE_MAX = 100
_INTEGER = re.compile(r"-?[0-9]{1,40}", re.ASCII)
_PAGE_MAX = 2**53


PerPage = Annotated[int, Meta(ge=1, le=PER_PAGE_MAX)]


class Query(Struct, frozen=True, kw_only=True):
    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Self:
        return cls(
            **cls._values(dict(parameters.items()))
        )  # a dict asks faster for what isn't there than Django's own

    @classmethod
    def _values(cls, parameters: dict[str, str]) -> dict[str, str | int | None]:
        return {name: parameters.get(written) for name, written in _names(cls)}

    def cost(self) -> int:
        """Tokens of the caller's bucket of reads."""
        return 1


class PagedQuery(Query, frozen=True, kw_only=True):
    """Of a list: an unreadable or too small page is the first, `per_page` stays within 1 to 100."""

    page: Annotated[int, Meta(ge=1)] = 1
    per_page: PerPage = 25

    @classmethod
    def _values(cls, parameters: dict[str, str]) -> dict[str, str | int | None]:
        values = super()._values(parameters)
        page = _integer(parameters.get("page"), 1)
        size = _integer(parameters.get("per_page"), _per_page(cls))
        values["page"] = min(max(1, page), _PAGE_MAX)
        values["per_page"] = min(max(1, size), PER_PAGE_MAX)
        return values

    def cost(self) -> int:
        skipped = (self.page - 1) * self.per_page // settings.READ_SKIPPED_ROWS_PER_TOKEN
        rows = self.per_page // settings.READ_ROWS_PER_TOKEN
        return min(1 + rows + skipped, settings.READ_TOKENS_MAX)


class FeedQuery(Query, frozen=True, kw_only=True):
    """Of a feed: what is older than the record named `before`. An unreadable size is the usual
    one."""

    before: Annotated[str, Meta(extra_json_schema={"format": "uuid"})] | None = None
    per_page: PerPage = 25

    @classmethod
    def _values(cls, parameters: dict[str, str]) -> dict[str, str | int | None]:
        size = _integer(parameters.get("per_page"), 25)
        return {**super()._values(parameters), "per_page": min(max(1, size), PER_PAGE_MAX)}

    def cost(self) -> int:
        return 1 + self.per_page // settings.READ_ROWS_PER_TOKEN


class DayRange(Query, frozen=True, kw_only=True):
    """A range of days."""

    first: Day | None = field(name="from", default=None)
    last: Day | None = field(name="to", default=None)

    def cost(self) -> int:
        """A range that can't be read is the usual one, and one without a beginning is as long as
        that."""
        first = parse_date(self.first)
        last = parse_date(self.last) or real_now().date()
        days = max(0, (last - first).days) if first is not None else 0
        return min(1 + days // settings.READ_DAYS_PER_TOKEN, settings.READ_TOKENS_MAX)


@cache
def _names(cls: type[Struct]) -> tuple[tuple[str, str], ...]:
    """Each field, and how it is written in the address."""
    return tuple(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))


@cache
def _per_page(cls: type[PagedQuery]) -> int:
    return next(int(field.default) for field in fields(cls) if field.name == "per_page")


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and _INTEGER.fullmatch(text) else default


def described(words: str, **schema: Any) -> Meta:
    """Description of a field beside its type."""
    return Meta(description=words, extra_json_schema=schema or None)


def choice(values: Iterable[str]) -> Meta:
    """The words of a field that has few; others are ignored."""
    return Meta(extra_json_schema={"enum": [str(value) for value in values]})
