"""Background work: rows in PostgreSQL are the queue, Celery only wakes a worker.

`enqueue` names a job on commit; when the broker is gone the periodic sweep of that job finds the row instead.
"""

import time
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import structlog
from django.db import transaction

log = structlog.get_logger(__name__)
_BROKER_PAUSE_SECONDS = 5.0
_broker_down_until = 0.0


def enqueue(name: str, *ids: Any) -> None:
    """Wake the job `name` for these ids once the current transaction has committed."""
    transaction.on_commit(lambda: nudge(name, [str(one) for one in ids]), robust=True)


def nudge(name: str, ids: Sequence[str] = ()) -> None:
    """Send the message now; a dead broker is noticed once and then left alone for a moment."""
    global _broker_down_until
    if time.monotonic() < _broker_down_until:
        return
    try:
        _celery().send_task(name, args=[list(ids)] if ids else [], ignore_result=True, retry=False)
    except Exception as error:  # any broker failure: the sweep does the work
        _broker_down_until = time.monotonic() + _BROKER_PAUSE_SECONDS
        log.warning("broker_unreachable", job=name, error=type(error).__name__)


@cache
def _celery() -> Any:
    """The app that knows the broker. Loaded by the first job that is named: most commands name none."""
    return import_module("config.celery").app
