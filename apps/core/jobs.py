"""Background work: rows in PostgreSQL are the queue, Celery only wakes a worker.

`enqueue` names a job on commit, `announce` what has happened, to the jobs above that follow it;
when the broker is gone the periodic sweep of that job finds the row instead. The message is in
Celery's protocol 2: its client is seven megabytes and half a millisecond for one list element.
"""

import base64
import json
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

from apps.core.redis import buckets

log = structlog.get_logger(__name__)
# Jobs whose name begins so have a queue of that name.
OWN_QUEUES = ("webhooks", "reports", "documents", "test_clocks")
QUEUES = ("celery", "test", *OWN_QUEUES)  # the lists in Redis that workers are woken by
_AWAKE = "awake:{name}:{mode}"
_AWAKE_SECONDS = 5
_BROKER_PAUSE_SECONDS = 5.0
_broker_down_until = 0.0


def enqueue(name: str, *ids: Any, mode: str = "") -> None:
    """Wake the job `name` for these ids once the current transaction has committed. One that is
    split by mode gets the mode."""
    transaction.on_commit(
        lambda: nudge(name, [str(row_id) for row_id in ids], mode=mode), robust=True
    )


def announce(happening: str, *ids: Any, mode: str = "") -> None:
    """Wake, on commit, the jobs of the apps above that act upon it. KeyError when it isn't in the
    table, config/followers.py."""
    for name in followers(happening):
        enqueue(name, *ids, mode=mode)


def followers(happening: str) -> tuple[str, ...]:
    """The jobs that act upon it."""
    names: tuple[str, ...] = settings.FOLLOWERS[happening]
    return names


def nudge(name: str, ids: Sequence[str] = (), *, mode: str = "") -> None:
    """Send the message now; a dead broker is noticed once and then left alone for a moment."""
    global _broker_down_until
    if time.monotonic() < _broker_down_until:
        return
    try:
        if name in settings.JOBS_BY_MODE:
            _wake(name, mode)
        else:
            family = name.partition(".")[0]
            _send(
                name, family if family in OWN_QUEUES else "celery", [list(ids)] if ids else [], {}
            )
    except Exception as error:  # any broker failure: the sweep does the work
        _broker_down_until = time.monotonic() + _BROKER_PAUSE_SECONDS
        log.warning("broker_unreachable", job=name, error=type(error).__name__)


def queue_of(mode: str) -> str:
    """The queue of a mode's own jobs; a worker without `--queues` serves all."""
    return "test" if mode == "test" else "celery"


def began(name: str, mode: str) -> None:
    """A run begins: what is committed from now on needs a message of its own."""
    with suppress(*buckets.unreachable()):
        buckets.client().delete(_AWAKE.format(name=name, mode=mode))


def _wake(name: str, mode: str) -> None:
    for each_mode in (mode,) if mode else ("live", "test"):
        if buckets.client().set(
            _AWAKE.format(name=name, mode=each_mode), 1, nx=True, ex=_AWAKE_SECONDS
        ):
            _send(name, queue_of(each_mode), [], {"mode": each_mode})


def _send(name: str, queue: str, args: list[Any], kwargs: dict[str, str]) -> None:
    number = str(uuid.uuid4())
    links = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
    headers = {
        "lang": "py",
        "task": name,
        "id": number,
        "root_id": number,
        "parent_id": None,
        "group": None,
        "ignore_result": True,
    }
    properties = {
        "correlation_id": number,
        "delivery_mode": 2,
        "delivery_info": {"exchange": "", "routing_key": queue},
        "delivery_tag": str(uuid.uuid4()),
        "priority": 0,
        "body_encoding": "base64",
    }
    message = {
        "body": base64.b64encode(json.dumps([args, kwargs, links]).encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": headers,
        "properties": properties,
    }
    buckets.client().lpush(queue, json.dumps(message))
