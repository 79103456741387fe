"""Deleting what was kept long enough: in batches, each a transaction of its own, so that nothing
else waits for long. A run goes on while rows remain and it has time."""

import time
from collections.abc import Mapping
from typing import Any

from django.db import connection, models, transaction

BATCH = 2_000
SECONDS_MAX = 30.0  # a worker that prunes does nothing else meanwhile


def prune(rows: "models.QuerySet[Any]", *, batch: int = BATCH, seconds: float = SECONDS_MAX) -> int:
    """Delete these rows; how many. What another transaction holds is left for the next run."""
    return prune_in_turns({"rows": rows}, batch=batch, seconds=seconds)["rows"]


def prune_in_turns(
    kinds: "Mapping[str, models.QuerySet[Any]]",
    *,
    batch: int = BATCH,
    seconds: float = SECONDS_MAX,
) -> dict[str, int]:
    """Prunes several kinds of rows, a batch of each in turn, so that none keeps the others waiting.
    Each gets a batch, whatever the time."""
    began = time.monotonic()
    counts = dict.fromkeys(kinds, 0)
    # Asked once: the privileges of a role don't change during a run.
    free = {name: _free(rows) for name, rows in kinds.items()}
    is_full = True
    while is_full:
        is_full = False
        for name, rows in free.items():
            count = _delete(rows, batch)
            counts[name] += count
            is_full = is_full or count == batch
        if time.monotonic() - began >= seconds:
            break
    return counts


def _free(rows: "models.QuerySet[Any]") -> "models.QuerySet[Any]":
    """These rows without those that another transaction holds."""
    unordered = rows.order_by()
    if _may_lock(rows.model):
        return unordered.select_for_update(of=("self",), skip_locked=True)
    return unordered


def _delete(rows: "models.QuerySet[Any]", batch: int) -> int:
    with transaction.atomic():
        ids = list(rows.values_list("pk", flat=True)[:batch])
        rows.model._default_manager.filter(pk__in=ids).delete()
    return len(ids)


def _may_lock(model: "type[models.Model]") -> bool:
    """PostgreSQL lets nobody lock a row who may not change it; what nobody may change is held by
    nobody."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT has_any_column_privilege(%s, 'UPDATE')",
            [connection.ops.quote_name(model._meta.db_table)],
        )
        return bool(cursor.fetchone()[0])
