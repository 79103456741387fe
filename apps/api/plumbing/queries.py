"""What a GET is asked in its address, as one frozen class per path: its fields are text as it came, or None.

Nothing is refused here: what can't be read is as good as not asked. A field without a default is a
parameter that has to be there, which the service says that is called.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Self

from msgspec import Meta, Struct, field

from apps.core.documents import Day

PER_PAGE_MAX = 100
_INTEGER = re.compile(r"-?[0-9]{1,40}", re.ASCII)
_PAGE_MAX = 2**53


PerPage = Annotated[int, Meta(ge=1, le=PER_PAGE_MAX)]


class Query(Struct, frozen=True, kw_only=True):
    @classmethod
    def read(cls, sent: Mapping[str, str]) -> Self:
        return cls(**cls._values(sent))

    @classmethod
    def _values(cls, sent: Mapping[str, str]) -> dict[str, str | int | None]:
        names = zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True)
        return {name: sent.get(written) for name, written in names}


class Paged(Query, frozen=True, kw_only=True):
    """Of a list: an unreadable or too small page is the first, `per_page` stays within 1 to 100."""

    page: Annotated[int, Meta(ge=1)] = 1
    per_page: PerPage = 25

    @classmethod
    def _values(cls, sent: Mapping[str, str]) -> dict[str, str | int | None]:
        own = dict(zip(reversed(cls.__struct_fields__), reversed(cls.__struct_defaults__), strict=False))
        page = max(1, _integer(sent.get("page"), own["page"]))
        size = max(1, _integer(sent.get("per_page"), own["per_page"]))
        return {**super()._values(sent), "page": min(page, _PAGE_MAX), "per_page": min(size, PER_PAGE_MAX)}


class Days(Query, frozen=True, kw_only=True):
    """A range of days."""

    first: Day | None = field(name="from", default=None)
    last: Day | None = field(name="to", default=None)


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and _INTEGER.fullmatch(text) else default


def described(words: str, **schema: Any) -> Meta:
    """What is said of a field beside its type."""
    return Meta(description=words, extra_json_schema=schema or None)


def choice(values: Iterable[str]) -> Meta:
    """The words of a field that has few; others are ignored."""
    return Meta(extra_json_schema={"enum": [str(one) for one in values]})
