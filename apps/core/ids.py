"""Ids of rows: UUIDs of version 7 (RFC 9562), which begin with the time they were made; and the
shard that ids, references, tokens and keys tell where there is one (decision 383).

Rows that are made together are together in every index: an insert touches pages that are in
memory. An id is no secret: what opens something by being known is a random token.
"""

import secrets
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
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
_RANDOM_BITS = 62
_AFTER_TIME = 80
# Crockford's base32, without letters that look like digits: the two characters of a shard are ten
# bits.
SHARD_CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_SHARD_BITS = 10
_END_OF_SHARD = "~"  # which no signed token contains
_NANOSECONDS_PER_MILLISECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_9999_MILLISECONDS = (datetime(9999, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)


def new_id() -> uuid.UUID:
    """48 bits of milliseconds since 1970, 12 bits of what is left of that time (RFC 9562, section
    6.2, method 3), 62 random bits, of which the first ten are the shard where there is one."""
    milliseconds, nanoseconds = divmod(time.time_ns(), _NANOSECONDS_PER_MILLISECOND)
    fraction = (nanoseconds << 12) // _NANOSECONDS_PER_MILLISECOND
    return uuid.UUID(
        int=milliseconds << 80 | _VERSION | fraction << 64 | _VARIANT | _random(shard_number())
    )


def _random(shard: int | None) -> int:
    if shard is None:
        return secrets.randbits(_RANDOM_BITS)
    free = _RANDOM_BITS - _SHARD_BITS
    return shard << free | secrets.randbits(free)


def new_id_sql() -> str:
    """A new ID as SQL, for a statement that makes rows. Variant and shard are three hexadecimal
    digits."""
    shard = shard_number()
    if shard is None:
        return "uuidv7()"
    digits = f"{_VARIANT >> 62 << _SHARD_BITS | shard:03x}"
    return f"overlay(uuidv7()::text PLACING '{digits}' FROM 20)::uuid"


def id_beside(other: uuid.UUID) -> uuid.UUID:
    """A new id with the first 48 bits of another, whatever those are: both are in every range of
    times, or neither."""
    of_itself = (1 << _AFTER_TIME) - 1
    return uuid.UUID(int=(other.int & ~of_itself) | (new_id().int & of_itself))


def id_beside_sql(other: str) -> str:
    """A neighboring ID as SQL; `other` is the text of a column."""
    return f"(left({other}::text, 13) || right(({new_id_sql()})::text, 23))::uuid"


def shard_number() -> int | None:
    """The shard as ids have it."""
    if not settings.SHARD:
        return None
    high, low = map(SHARD_CHARACTERS.index, settings.SHARD)
    return high * len(SHARD_CHARACTERS) + low


def led_by_shard(random: str) -> str:
    """Random text of a fixed length, whose first two characters become the shard."""
    shard: str = settings.SHARD
    return shard + random[len(shard) :]


def behind_shard(token: str) -> str:
    """A signed token, with the shard before it."""
    return f"{settings.SHARD}{_END_OF_SHARD}{token}" if settings.SHARD else token


def signed_token(text: str) -> str:
    """The token that `behind_shard` was given, here or before there was a shard."""
    return text.rpartition(_END_OF_SHARD)[2]


def time_of(id: uuid.UUID) -> datetime | None:
    """Time at which a row with this ID was made, to the millisecond; None for an id that doesn't
    say, or names a year that no row has: anybody may have typed it."""
    milliseconds = id.int >> 80
    if id.version != 7 or milliseconds >= _YEAR_9999_MILLISECONDS:
        return None
    return _EPOCH + timedelta(milliseconds=milliseconds)


def first_id(at: datetime) -> uuid.UUID:
    """The least that a row made at that time, or later, can have."""
    milliseconds = (at - _EPOCH) // timedelta(milliseconds=1)
    return uuid.UUID(int=milliseconds << 80 | _VERSION | _VARIANT)


class IdField(_Column[Set, Got]):
    """The primary key of a row."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"primary_key": True, "default": new_id, "editable": False, **options})

    def deconstruct(self) -> Any:
        """As a plain column to migrations: who makes up the value is nothing that a schema knows,
        and the tables exist already."""
        name, _, args, options = super().deconstruct()
        return name, "django.db.models.UUIDField", args, {**options, "default": uuid.uuid4}
