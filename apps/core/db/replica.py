"""Reads that may be some seconds behind: a replica of the database answers them, and the primary
while the replica is away or too late.

Each use says why it may (decision 352). Within one, this thread's default connection is the one to
the replica, so the same policies hold; a write is refused by PostgreSQL there. Nothing that follows
a write of its own is such a use.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import structlog
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from prometheus_client import Counter

from apps.core.clock import real_now
from apps.core.db.outage import is_outage

log = structlog.get_logger(__name__)
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
REPLICA = "replica"
# How long a process relies on what it found out, and leaves a replica alone that failed it.
JUDGED_SECONDS = 1.0
AWAY_SECONDS = 5.0
AWAY, LATE = "away", "late"
# After so long a replica that is asked has what had happened, and so has the primary: a
# transaction of the last moment of a day may be open for a while.
SETTLED_SECONDS = 300.0
# What a replica refuses, by SQLSTATE: reads that are in the way of what it replays, and writes.
# What ran out of its role's time would be as slow again.
_REFUSED = {"40001": "conflict", "40P01": "conflict", "25006": "write"}
_TIMEOUT = "57014"
_reads = Counter(
    "tillgate_replica_reads",
    "Reads that may be behind, by the server that answered and why it wasn't the replica",
    ["server", "reason"],
)
USES: dict[str, str] = {}


class Position(NamedTuple):
    """Position of a replica: `lag_seconds` is infinite when unknown."""

    is_standby: bool
    lag_seconds: float


@dataclass
class _Judgment:
    """Why the replica isn't asked, empty while it is; and until when nobody finds out again."""

    reason: str = ""
    until: float = 0.0


_lock = threading.Lock()
_needs = threading.local()
_judgment = _Judgment()


def reads_may_lag(
    why: str,
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """A function that only reads, and answers with what it has read: no generator, and no query
    that somebody else runs. When the replica fails it, it runs again on the primary."""

    def decorate(read: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        USES[f"{read.__module__}.{read.__qualname__}"] = why

        @wraps(read)
        def run(*args: Parameters.args, **options: Parameters.kwargs) -> Result:
            if not is_configured() or _is_decided():
                return read(*args, **options)
            reason = _reason_against()
            if not reason:
                try:
                    with in_place_of_primary():
                        result = read(*args, **options)
                except DatabaseError as error:
                    reason = _reason_of(error)
                    if not reason:
                        raise
                else:
                    _reads.labels(REPLICA, "").inc()
                    return result
            _reads.labels("primary", reason).inc()
            return read(*args, **options)

        return run

    return decorate


@contextmanager
def complete_until(moment: datetime | None) -> Iterator[None]:
    """Reads within it may lag, but not by what had happened by then: a report of yesterday that is
    made at midnight has the last entry of the day."""
    before = getattr(_needs, "is_primary", False)
    is_settled = moment is not None and moment <= real_now() - timedelta(seconds=SETTLED_SECONDS)
    _needs.is_primary = before or not (moment is None or is_settled)
    try:
        yield
    finally:
        _needs.is_primary = before


def is_configured() -> bool:
    return REPLICA in connections.settings


def position() -> Position:
    """Asks both servers. A replica that has replayed all that the primary had written isn't behind,
    however long ago that was; the clock is the primary's."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()::text, clock_timestamp()")
        written, now = cursor.fetchone()
    with connections[REPLICA].cursor() as cursor:
        cursor.execute(
            "SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() >= %s::pg_lsn,"
            " pg_last_xact_replay_timestamp()",
            [written],
        )
        is_standby, has_all, replayed_at = cursor.fetchone()
    if has_all or not is_standby:
        return Position(is_standby, 0.0)
    lag = (now - replayed_at).total_seconds() if replayed_at else float("inf")
    return Position(is_standby, max(0.0, lag))


def _is_decided() -> bool:
    """True if this thread reads from the replica already, or must not: within a transaction of the
    primary its writes are to be seen."""
    current = connections[DEFAULT_DB_ALIAS]
    return getattr(_needs, "is_primary", False) or is_in_place() or bool(current.in_atomic_block)


def is_in_place() -> bool:
    """True if this thread reads from the replica."""
    return is_configured() and connections[DEFAULT_DB_ALIAS] is connections[REPLICA]


@contextmanager
def in_place_of_primary() -> Iterator[None]:
    """Within it this thread's default connection is its one to the replica."""
    primary = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = connections[REPLICA]
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = primary


def _reason_against() -> str:
    """Reason against the replica: one thread asks, and the others use the last answer."""
    with _lock:
        if time.monotonic() < _judgment.until:
            return _judgment.reason
        _judgment.until = time.monotonic() + JUDGED_SECONDS
    try:
        current = position()
    except DatabaseError as error:
        if not is_outage(error):
            raise
        return _leave_alone(error)
    is_late = current.lag_seconds > settings.DATABASE_REPLICA_LAG_SECONDS
    # One that was promoted may have gone a way of its own.
    reason = LATE if is_late else "" if current.is_standby else AWAY
    _judge(reason, JUDGED_SECONDS, lag_seconds=round(current.lag_seconds, 1))
    return reason


def _reason_of(error: DatabaseError) -> str:
    """Why the primary is asked again; empty when it would answer the same."""
    state = getattr(error.__cause__, "sqlstate", None)
    if state == _TIMEOUT or not is_outage(error):
        return ""
    return _REFUSED.get(str(state)) or _leave_alone(error)


def _leave_alone(error: DatabaseError) -> str:
    with suppress(DatabaseError):
        connections[REPLICA].close()
    _judge(AWAY, AWAY_SECONDS, error=type(error).__name__)
    return AWAY


def _judge(reason: str, seconds: float, **facts: Any) -> None:
    """Logs each change once."""
    with _lock:
        before, _judgment.reason = _judgment.reason, reason
        _judgment.until = time.monotonic() + seconds
    if reason and reason != before:
        log.warning("replica_not_asked", reason=reason, **facts)
    elif before and not reason:
        log.info("replica_asked_again", **facts)
