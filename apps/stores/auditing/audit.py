"""The audit log: who did what to which store, written in the transaction of the act. The database
lets nobody change it.

Never a secret in it: what was made is named by its id and what people know it by.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from django.db.models import CharField, Model, Q, QuerySet, UUIDField

from apps.core import acting, clock
from apps.core.db.prepared_reads import Query
from apps.core.db.sql import BlankParameter, insert
from apps.core.process.logs import redact, request_id
from apps.stores.models import AuditEntry, Store

ABOUT_MAX = 100
_TEXT_MAX = 500


def record(
    action: str,
    *,
    store: Store | uuid.UUID | None = None,
    mode: str = "",
    target: Model | None = None,
    name: str = "",
    reason: str = "",
    details: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Records an act, `<noun>.<done>`, of the present actor (core.acting). `target` is the row it
    was done to, `name` what people call it."""
    actor = acting.current()
    entry = AuditEntry(
        at=clock.real_now(),
        store_id=store.pk if isinstance(store, Store) else store,
        mode=mode,
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_name=actor.name[:_TEXT_MAX],
        address=actor.address,
        request_id=request_id.get(),
        action=action,
        target_type=target._meta.model_name or "" if target is not None else "",
        target_id=str(target.pk) if target is not None else "",
        target_name=name[:_TEXT_MAX],
        reason=reason[:_TEXT_MAX],
        details=redact({key: _plain(value) for key, value in (details or {}).items()}),
    )
    insert(entry)
    return entry


def changes(row: Model, values: Mapping[str, object]) -> dict[str, list[object]]:
    """Changes of the row by `values`, for `details`: column -> [before, after]."""
    return differences({column: getattr(row, column) for column in values}, values)


def differences(
    before: Mapping[str, object], values: Mapping[str, object]
) -> dict[str, list[object]]:
    """Changes against the known values `before`."""
    return {
        column: [_plain(before[column]), _plain(value)]
        for column, value in values.items()
        if before[column] != value
    }


def entries(store_id: uuid.UUID, *, action: str = "", actor: str = "") -> "QuerySet[AuditEntry]":
    """A store's log, newest first; `action` is a noun or one act, `actor` a part of a name."""
    rows = AuditEntry.objects.filter(store_id=store_id).order_by("-id")
    if action:
        rows = rows.filter(Q(action=action) | Q(action__startswith=f"{action}."))
    return rows.filter(actor_name__icontains=actor) if actor else rows


_ABOUT = Query(
    lambda: AuditEntry.objects.filter(
        store_id=BlankParameter("store_id", UUIDField()),
        target_id=BlankParameter("target_id", CharField()),
        target_type=BlankParameter("target_type", CharField()),
    ).order_by("-id")[:ABOUT_MAX]
)


def entries_about(store_id: uuid.UUID, target: Model) -> list[AuditEntry]:
    """The latest lines about one row, newest first."""
    return _ABOUT.read(
        store_id=store_id, target_id=str(target.pk), target_type=target._meta.model_name or ""
    )


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value)[:_TEXT_MAX]
