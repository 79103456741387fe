"""Counters of workers and beat, and their scraping: a worker's processes count together, and the
parent answers for all.

Loaded only with METRICS_PORT. Nothing here asks the database.
"""

import os
import sys
import time
from typing import Any

from config import shared_figures

# Its children have it from here.
os.environ.update(shared_figures.shared_by(os.getpid()) if "worker" in sys.argv else {})

from celery.signals import (
    after_task_publish,
    beat_init,
    celeryd_after_setup,
    task_failure,
    task_postrun,
    task_prerun,
    worker_process_shutdown,
)
from prometheus_client import Counter, Summary

# The label isn't called "job", which Prometheus gives to what it scrapes.
_runs = Summary("tillgate_job_seconds", "Runs of a job, and their time", ["name"])
_failures = Counter("tillgate_jobs_failed", "Runs of a job that ended with an error", ["name"])
_sent = Counter("tillgate_beat_sent", "Periodic jobs that beat has sent to Redis")
_began: dict[str, float] = {}


@celeryd_after_setup.connect
def _serve_worker(**_: Any) -> None:
    """Before children are made: a thread that serves them is none of theirs."""
    _serve()


@beat_init.connect
def _serve_beat(**_: Any) -> None:
    after_task_publish.connect(_count_sent)
    _serve()


def _serve() -> None:
    from django.conf import settings

    from apps.console import exporter  # models exist from here on

    exporter.serve(exporter.process_registry(), settings.METRICS_PORT)


def _count_sent(**_: Any) -> None:
    _sent.inc()


@task_prerun.connect
def _begin(task_id: str, **_: Any) -> None:
    _began[task_id] = time.monotonic()


@task_postrun.connect
def _end(task_id: str, task: Any, **_: Any) -> None:
    _runs.labels(task.name).observe(time.monotonic() - _began.pop(task_id, time.monotonic()))


@task_failure.connect
def _count_failure(sender: Any, **_: Any) -> None:
    _failures.labels(sender.name).inc()


@worker_process_shutdown.connect
def _leave(pid: int, **_: Any) -> None:
    """Keeps a child's counters, and drops its gauges."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(pid)
