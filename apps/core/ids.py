"""Ids of rows: UUIDs of version 7 (RFC 9562), which begin with the time they were made.

Rows that are made together stand together in every index, so an insert touches pages that are in
memory however old the table is. An id tells when its row was made and is no secret: what opens
something by being known is a random token.
"""

import secrets
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import models

Set = TypeVar("Set")
Got = TypeVar("Got")

if TYPE_CHECKING:

    class _Column(models.UUIDField[Set, Got]): ...

else:

    class _Column(models.UUIDField):
        def __class_getitem__(cls, _: object) -> type:
            return cls


_VERSION = 0x7 << 76
_VARIANT = 0b10 << 62
_NANOSECONDS_PER_MILLISECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_9999_MILLISECONDS = (datetime(9999, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)


def new_id() -> uuid.UUID:
    """48 bits of milliseconds since 1970, 12 bits of what is left of that time (RFC 9562, section
    6.2, method 3), 62 random bits."""
    milliseconds, nanoseconds = divmod(time.time_ns(), _NANOSECONDS_PER_MILLISECOND)
    fraction = (nanoseconds << 12) // _NANOSECONDS_PER_MILLISECOND
    return uuid.UUID(
        int=milliseconds << 80 | _VERSION | fraction << 64 | _VARIANT | secrets.randbits(62)
    )


def time_of(id: uuid.UUID) -> datetime | None:
    """When a row with this id was made, to the millisecond; None for an id that doesn't say, or
    names a year that no row has: anybody may have typed it."""
    milliseconds = id.int >> 80
    if id.version != 7 or milliseconds >= _YEAR_9999_MILLISECONDS:
        return None
    return _EPOCH + timedelta(milliseconds=milliseconds)


class IdField(_Column[Set, Got]):
    """The primary key of a row."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"primary_key": True, "default": new_id, "editable": False, **options})

    def deconstruct(self) -> Any:
        """As a plain column to migrations: who makes up the value is nothing that a schema knows,
        and the tables exist already."""
        name, _, args, options = super().deconstruct()
        return name, "django.db.models.UUIDField", args, {**options, "default": uuid.uuid4}
