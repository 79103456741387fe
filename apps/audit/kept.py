"""Counts and hashes that a run keeps with its point of the records that are written once
(apps/audit/facts.py), and whether a later run finds all of it again.

Rows are counted and hashed by the time that their key was made at. The newest ones are kept one by
one, since a transaction that began before may still write one with an older key.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection

from apps.audit.fact_tables import Facts

NAME = "facts_kept"
SAYS = "What was verified before of money and promises is still there, and says the same"
# No transaction of ours takes this long, nor have so many others numbered rows meanwhile, unless
# the table says how many.
SETTLED = timedelta(minutes=10)
SETTLED_NUMBERS = 2_000
# Digits of a key's time that its rows are summed by: three days, and seven weeks.
PRUNED_DIGITS, DIGITS = 5, 4
TIME_DIGITS = 12
PRUNED_EARLY = timedelta(days=1)

Kept = Mapping[str, Any]
_UUID, _TEXT = "uuid", "text"
# Keys of long ago are random: none of them is written any more.
_IS_TIMED = "substr(r.{key}::text, 15, 1) = '7'"
_BY_TIME = f"CASE WHEN {_IS_TIMED} THEN left(r.{{key}}::text, {{digits}}) ELSE '' END"
_BY_KEY = "r.{key}::text"
_BY_NUMBER = "(r.{key} / 100000)::text"
_SUMS = """
SELECT {bucket}, {is_random} OR r.{key} <= %(before)s::{kind}, count(*), bit_xor({hash})
FROM {table} r WHERE {is_random} OR r.{key} <= %(upto)s::{kind} GROUP BY 1, 2
"""
_NEWEST = (
    "SELECT r.{key}::text, {hash} FROM {table} r"
    " WHERE NOT {is_random} AND r.{key} > %(upto)s::{kind}"
)
_NAMED = "SELECT r.{key}::text, {hash} FROM {table} r WHERE r.{key} = ANY (%(keys)s::{kind}[])"
_TOP = "SELECT coalesce(max(r.{key}), 0) FROM {table} r"


@dataclass(frozen=True)
class Comparison:
    """Of one table: what there is now, over how many rows of the point it was asked, and what of
    them is no longer so."""

    now: Kept
    counted: int
    breaches: Sequence[tuple[str, str]]


def compare(facts: Facts, before: Kept | None, at: datetime) -> Comparison:
    """Read a table of this snapshot once. `before` is what a point has of it; None when it has
    nothing."""
    columns = " ".join([facts.key, *facts.names])
    if before is not None and before["columns"] != columns:
        before = None  # another release kept something else
    words = _words(facts)
    upto = _upto(facts, words, before, at)
    sums: dict[str, list[int]] = {}
    older: dict[str, list[int]] = {}
    bound = upto if before is None else before["upto"]
    with connection.cursor() as cursor:
        cursor.execute(_SUMS.format(**words), {"before": bound, "upto": upto})
        for bucket, is_older, count, digest in cursor.fetchall():
            _add(sums, bucket, count, digest)
            if is_older:
                _add(older, bucket, count, digest)
        cursor.execute(_NEWEST.format(**words), {"upto": upto})
        newest = {key: str(digest) for key, digest in cursor.fetchall()}
    # A digest has more digits than a number of JSON keeps everywhere.
    totals = {bucket: [count, str(digest)] for bucket, (count, digest) in sums.items()}
    now = {"columns": columns, "upto": upto, "sums": totals, "newest": newest}
    if before is None:
        return Comparison(now, 0, [])
    counted = sum(count for count, _ in before["sums"].values()) + len(before["newest"])
    breaches = [*_of_sums(facts, before, older, at), *_of_newest(facts, words, before, at)]
    return Comparison(now, counted, breaches)


def _words(facts: Facts) -> dict[str, str]:
    if facts.key_type == _TEXT:
        # Short tables, whose keys say nothing of when: each row is summed by itself.
        bucket, is_random = _BY_KEY, "true"
    elif facts.key_type == _UUID:
        bucket, is_random = _BY_TIME, f"NOT ({_IS_TIMED.format(key=facts.key)})"
    else:
        bucket, is_random = _BY_NUMBER, "false"
    digits = PRUNED_DIGITS if facts.is_pruned else DIGITS
    row = ", ".join(_column(name) for name in (facts.key, *facts.names))
    return {
        "table": facts.table,
        "key": facts.key,
        "kind": facts.key_type,
        "bucket": bucket.format(key=facts.key, digits=digits),
        "is_random": is_random,
        "hash": f"hash_record_extended(ROW({row}), 0)",
    }


def _column(name: str) -> str:
    """As it was before the records of test mode were put away."""
    return f"stores_origin(r.{name})" if name in ("store_id", "platform_id") else f"r.{name}"


def _upto(facts: Facts, words: Mapping[str, str], before: Kept | None, at: datetime) -> str:
    """The last key before which no other will be written; never before that of the point."""
    earlier = "" if before is None else before["upto"]
    if facts.key_type == _TEXT:
        return ""
    if facts.key_type == _UUID:
        milliseconds = int((at - SETTLED).timestamp() * 1000)
        return max(earlier, str(uuid.UUID(int=milliseconds << 80)))
    with connection.cursor() as cursor:
        cursor.execute(_TOP.format(**words))
        (top,) = cursor.fetchone()
    return str(max(int(earlier or 0), int(top) - (facts.settled_numbers or SETTLED_NUMBERS)))


def _add(sums: dict[str, list[int]], bucket: str, count: int, digest: int) -> None:
    earlier = sums.setdefault(bucket, [0, 0])
    earlier[0] += count
    earlier[1] ^= digest


def _of_sums(
    facts: Facts, before: Kept, now: Mapping[str, list[int]], at: datetime
) -> Iterator[tuple[str, str]]:
    for bucket, (count, digest) in before["sums"].items():
        count_now, digest_now = now.get(bucket, (0, 0))
        is_changed = count_now != count or str(digest_now) != digest
        if facts.grows:
            is_changed = count_now < count
        if is_changed and not _may_be_gone(facts, bucket, at):
            yield (
                f"{facts.table}{_from(facts, bucket)}",
                f"{count} rows were verified, {count_now} of them are there"
                + ("" if count_now < count else ", and not as they were"),
            )


def _of_newest(
    facts: Facts, words: Mapping[str, str], before: Kept, at: datetime
) -> Iterator[tuple[str, str]]:
    keys = list(before["newest"])
    with connection.cursor() as cursor:
        cursor.execute(_NAMED.format(**words), {"keys": keys})
        now = {key: str(digest) for key, digest in cursor.fetchall()}
    for key, digest in before["newest"].items():
        if key not in now:
            if not _may_be_gone(facts, key.replace("-", "")[:TIME_DIGITS], at):
                yield f"{facts.table} {key}", "it was verified, and is gone"
        elif now[key] != digest:
            yield f"{facts.table} {key}", "it was verified, and is not as it was"


def _from(facts: Facts, bucket: str) -> str:
    if facts.key_type == _TEXT:
        return f" {bucket}"
    if facts.key_type != _UUID:
        return f" {bucket}00000 to {bucket}99999"
    return f" from {_begin(bucket):%Y-%m-%d} on" if bucket else ""


def _begin(bucket: str) -> datetime:
    milliseconds = int(bucket.ljust(TIME_DIGITS, "0"), 16)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _may_be_gone(facts: Facts, bucket: str, at: datetime) -> bool:
    """Rows of that time have been kept for as long as they have to be. Random keys don't say when
    they were made."""
    lifetime = timedelta(days=settings.WEBHOOK_KEPT_DAYS)
    return facts.is_pruned and (not bucket or _begin(bucket) < at - lifetime + PRUNED_EARLY)
