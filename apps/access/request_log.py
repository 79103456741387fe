"""The request log of each store: noted in memory, written by a thread of its own in batches, so
that no request waits for it.

A process that is killed loses its last second. The body of a call under an idempotency key is kept
as a digest: so a replay that sent something else than the first call can be recognized.
"""

import atexit
import json
import os
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, connection
from django.db.models import Q, QuerySet
from django.db.models.query import ModelIterable

from apps.access.access import Access
from apps.access.models import RequestEntry
from apps.core import clock
from apps.core.db import tenancy
from apps.core.ids import new_id, time_of
from apps.core.messages.fields import is_uuid

log = structlog.get_logger(__name__)
WAITING_MAX = 20_000
BATCH_MAX = 2_000
FOUND_MAX = 1_000
_LATER = timedelta(minutes=10)
_COLUMNS = (
    "id",
    "store_id",
    "mode",
    "created_at",
    "method",
    "route",
    "path",
    "status",
    "credential_kind",
    "credential_id",
    "credential_name",
    "caller",
    "request_id",
    "duration_ms",
    "idempotency_key",
    "is_replay",
    "body_digest",
    "error_code",
    "error_message",
    "record_id",
    "request_body",
    "response_body",
)
_TYPES = {
    "id": "uuid",
    "store_id": "uuid",
    "created_at": "timestamptz",
    "status": "int",
    "credential_id": "uuid",
    "duration_ms": "int",
    "is_replay": "bool",
    "body_digest": "bytea",
    "record_id": "uuid",
}
# Rows as arrays of JSON: COPY goes by no policy.
_INSERT = f"""
INSERT INTO {RequestEntry._meta.db_table} ({", ".join(_COLUMNS)})
SELECT {", ".join(f"(one ->> {n})::{_TYPES.get(name, 'text')}" for n, name in enumerate(_COLUMNS))}
FROM jsonb_array_elements(%s::jsonb) one
"""  # noqa: S608  # only names of columns
_waiting: deque[tuple[Any, ...]] = deque(maxlen=WAITING_MAX)
_writer_of = 0  # the process whose thread writes
_lock = threading.Lock()


def note(access: Access, at: datetime, **call: Any) -> None:
    """Remember one call; `call` has the columns that say what was asked and answered. A column may
    be a function, which tells its value when it is written."""
    row = {
        "id": new_id(),
        "store_id": access.store_id,
        "mode": access.mode,
        "created_at": at,
        "credential_kind": access.kind,
        "credential_id": access.credential_id,
        "credential_name": access.user.email if access.user is not None else access.label,
        "caller": access.caller,
        **call,
    }
    _waiting.append(tuple(row[column] for column in _COLUMNS))
    if settings.REQUEST_LOG_SECONDS and _writer_of != os.getpid():
        _begin()


def flush() -> int:
    """Write what waits; how many rows. What the database refuses is dropped, what it can't take now
    is kept."""
    written = 0
    while _waiting:
        rows = [_told(_waiting.popleft()) for _ in range(min(len(_waiting), BATCH_MAX))]
        try:
            with (
                tenancy.everyone("calls of all stores are logged together"),
                connection.cursor() as cursor,
            ):
                cursor.execute(_INSERT, [json.dumps(rows, default=_text)])
        except (OperationalError, InterfaceError):
            _waiting.extendleft(reversed(rows[: WAITING_MAX - len(_waiting)]))
            raise
        except Error as error:
            log.exception("request_log_refused", rows=len(rows), exc_info=error)
        else:
            written += len(rows)
    return written


def _told(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row as it is written; what can't be read is left out of it."""
    try:
        return tuple(value() if callable(value) else value for value in row)
    except Exception as error:  # whatever it is, the rows beside it are written
        log.exception("request_log_refused", rows=1, exc_info=error)
        return tuple(None if callable(value) else value for value in row)


def _text(value: Any) -> str:
    """Text for PostgreSQL of values that JSON has no type for."""
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)


def forget() -> None:
    """Drop what waits."""
    _waiting.clear()


def _begin() -> None:
    """Starts the thread of this process; a fork has none yet."""
    global _writer_of
    with _lock:
        if _writer_of == os.getpid():
            return
        _writer_of = os.getpid()
    atexit.register(_write)
    threading.Thread(target=_go_on, name="request-log", daemon=True).start()


def _go_on() -> None:
    while True:
        time.sleep(settings.REQUEST_LOG_SECONDS)
        _write()


def _write() -> None:
    try:
        flush()
    except Error as error:
        connection.close()
        log.warning("request_log_waits", rows=len(_waiting), error=type(error).__name__)


def entries(
    access: Access, *, status: str = "", method: str = "", credential: str = "", q: str = ""
) -> "QuerySet[RequestEntry]":
    """Calls of a store, newest first. `status` is a class as `4`, `q` a request id, an idempotency
    key or the id of a record that a call was about."""
    # Between these bounds every day has a partition, and the one of rows without a day is left
    # out: days are then read in their order, as far as the page goes.
    now = clock.real_now()
    days = (now - timedelta(days=settings.REQUEST_LOG_DAYS), now + _LATER)
    rows: QuerySet[RequestEntry] = (
        RequestEntry.objects.visible_to(access)
        .filter(created_at__range=days)
        .order_by("-created_at", "-id")
        .defer("request_body", "response_body")
    )
    if status in ("2", "3", "4", "5"):
        rows = rows.filter(status__gte=int(status) * 100, status__lt=int(status) * 100 + 100)
    if method:
        rows = rows.filter(method=method)
    if credential:
        rows = (
            rows.filter(credential_id=credential)
            if is_uuid(credential)
            else rows.filter(credential_kind=credential)
        )
    return _compared(_found(rows, q) if q else rows)


def _found(rows: "QuerySet[RequestEntry]", q: str) -> "QuerySet[RequestEntry]":
    """The newest FOUND_MAX calls of each thing that `q` may be. Their keys are found before the
    rows: with a condition for both PostgreSQL walks all calls of the store to leave them out."""
    keys = [Q(request_id=q), _with_key(idempotency_key=q)]
    keys += [Q(record_id=q)] if is_uuid(q) else []
    times: dict[uuid.UUID, datetime] = {}
    for key in keys:
        times |= dict(rows.filter(key).values_list("pk", "created_at")[:FOUND_MAX])
    if not times:
        return rows.none()
    days = (min(times.values()), max(times.values()))
    return rows.filter(pk__in=times, created_at__range=days)


def _with_key(**condition: object) -> Q:
    """A condition about idempotency keys, as their index needs it: it has no empty one."""
    return ~Q(idempotency_key="") & Q(**condition)


def one(access: Access, id: str) -> "QuerySet[RequestEntry]":
    """The call with this id, looked for in the day that the id tells, if it tells the right one."""
    rows: QuerySet[RequestEntry] = RequestEntry.objects.visible_to(access)
    at = time_of(uuid.UUID(id)) if is_uuid(id) else None
    if at is not None:
        near = rows.filter(created_at__range=(at - _LATER, at + _LATER))
        rows = near if near.filter(pk=id).exists() else rows
    return _compared(rows)


class _Compared(ModelIterable):  # type: ignore[type-arg]  # it has none when it runs
    """Rows that know whether a replay sent something else than the call whose record it was
    answered with. Only replays ask: a call may be in any day."""

    def __iter__(self) -> Iterator[RequestEntry]:
        rows = list(super().__iter__())
        _compare([row for row in rows if row.is_replay and row.idempotency_key])
        return iter(rows)


def _compared(rows: "QuerySet[RequestEntry]") -> "QuerySet[RequestEntry]":
    rows._iterable_class = _Compared
    return rows


def _compare(replays: Sequence[RequestEntry]) -> None:
    if not replays:
        return
    calls = RequestEntry.objects.filter(
        _with_key(idempotency_key__in={row.idempotency_key for row in replays}),
        store__in={row.store_id for row in replays},
        is_replay=False,
        status__range=(200, 299),
    )
    first: dict[tuple[object, ...], bytes | None] = {}
    for call in calls.order_by("created_at"):
        first.setdefault(_key_of(call), call.body_digest)
    for row in replays:
        row.first_body_digest = first.get(_key_of(row))
        row.is_body_different = row.first_body_digest not in (None, row.body_digest)


def _key_of(row: RequestEntry) -> tuple[object, ...]:
    return (row.store_id, row.mode, row.route, row.method, row.caller, row.idempotency_key)
