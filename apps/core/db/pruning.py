"""Deleting what was kept long enough: in batches, each a transaction of its own, so that nothing
else waits for long."""

from typing import Any

from django.db import models, transaction

BATCH = 2_000
BATCHES_MAX = 50


def prune(rows: "models.QuerySet[Any]", *, batch: int = BATCH, batches: int = BATCHES_MAX) -> int:
    """Delete at most `batches` times `batch` of these rows; how many. What another transaction
    holds is left for the next run."""
    deleted = 0
    for _ in range(batches):
        with transaction.atomic():
            ids = list(
                rows.order_by()
                .select_for_update(of=("self",), skip_locked=True)
                .values_list("pk", flat=True)[:batch]
            )
            rows.model._default_manager.filter(pk__in=ids).delete()
        deleted += len(ids)
        if len(ids) < batch:
            break
    return deleted
