"""Background work: rows in PostgreSQL are the queue, Celery only wakes a worker.

`enqueue` names a job on commit; when the broker is gone the periodic sweep of that job finds the row instead.
"""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import structlog
from celery import current_app
from django.db import models, transaction

log = structlog.get_logger(__name__)
_BROKER_PAUSE_SECONDS = 5.0
_broker_down_until = 0.0
T = TypeVar("T", bound=models.Model)


def enqueue(name: str, *ids: Any) -> None:
    """Wake the job `name` for these ids once the current transaction has committed."""
    transaction.on_commit(lambda: nudge(name, [str(one) for one in ids]), robust=True)


def nudge(name: str, ids: Sequence[str] = ()) -> None:
    """Send the message now; a dead broker is noticed once and then left alone for a moment."""
    global _broker_down_until
    if time.monotonic() < _broker_down_until:
        return
    try:
        current_app.send_task(name, args=[list(ids)] if ids else [], ignore_result=True, retry=False)
    except Exception as error:  # any broker failure: the sweep does the work
        _broker_down_until = time.monotonic() + _BROKER_PAUSE_SECONDS
        log.warning("broker_unreachable", job=name, error=type(error).__name__)


def claim(rows: models.QuerySet[T], *, now: datetime, lease_seconds: int, limit: int) -> list[T]:
    """Take up to `limit` rows for this worker: locked with SKIP LOCKED and leased through `claimed_until`.

    The model has `claimed_until`; a worker that dies loses the lease, and the next sweep takes the row again.
    """
    with transaction.atomic():
        free = models.Q(claimed_until=None) | models.Q(claimed_until__lte=now)
        taken = list(rows.filter(free).select_for_update(skip_locked=True, of=("self",))[:limit])
        until = now + timedelta(seconds=lease_seconds)
        rows.model._default_manager.filter(pk__in=[row.pk for row in taken]).update(claimed_until=until)
    return taken
