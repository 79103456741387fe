"""Behavior while periodic jobs don't run (decision 347). Without Redis or any worker, beat runs the
vital ones itself: payments expire and settle, invoices hear of it, prices stay current. Without
beat, the watcher wakes workers: its own database role may not do their work (decision 658).

One beat at a time does it, under a lease; each job may run beside itself.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from apps.core import jobs
from apps.core.db import locks
from apps.core.process import heartbeats
from apps.core.process.heartbeats import HeartbeatPart

# The jobs that can't wait, in the table of config/celery.py.
VITAL = (
    "payments.settle_deposits",
    "payments.expire_due",
    "billing.update_paid_amounts",
    "assets.refresh_rates",
)
log = structlog.get_logger(__name__)


def vital_jobs() -> dict[str, tuple[float, Callable[[], object]]]:
    """Seconds between two runs, and the run, by the name of the periodic job: loaded only when it
    is needed, because beat never needs it otherwise."""
    from apps.assets import rates
    from apps.billing.invoices import payment_intents
    from apps.payments.services import expire, settle

    runs: tuple[tuple[float, Callable[[], object]], ...] = (
        (5.0, settle.settle_deposits),
        (5.0, expire.expire_due),
        (5.0, payment_intents.update_paid_amounts),
        (30.0, rates.refresh),
    )
    return dict(zip(VITAL, runs, strict=True))


class Fallback:
    """Beat's view of the periodic jobs: `step` is one look, and runs what is due."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._lease: locks.LockLease | None = None
        self._next_runs: dict[str, float] = {}

    def step(self) -> bool:
        """True if this process runs the vital jobs for now. Raises database errors."""
        if self._silence_seconds() <= settings.FALLBACK_AFTER_SECONDS:
            self.close()
            return False
        if not self._hold():
            return False
        self._run_due()
        return True

    def close(self) -> None:
        """Leave the work to those whose it is."""
        if self._lease is not None:
            locks.release(self._lease)
            self._lease = None
            log.info("fallback_ended")

    def _silence_seconds(self) -> float:
        return silence_seconds(self._began)

    def _hold(self) -> bool:
        if self._lease is None or not locks.is_held(self._lease):
            self._lease = locks.take(locks.LockKind.FALLBACK_JOBS, "")
            if self._lease is not None:
                self._next_runs = {}
                log.warning("fallback_began", hint="Redis or every worker is away")
        return self._lease is not None

    def _run_due(self) -> None:
        for name, (seconds, run) in vital_jobs().items():
            if time.monotonic() < self._next_runs.get(name, 0.0):
                continue
            self._next_runs[name] = time.monotonic() + seconds
            try:
                run()
            except Exception as error:  # of one job; the others have their turn
                log.error(
                    "fallback_job_failed", job=name, error=type(error).__name__, exc_info=True
                )


def silence_seconds(began: float) -> float:
    """Since when no periodic job has run; on a new database, since this process began."""
    never = time.monotonic() - began
    return heartbeats.ages_seconds().get(HeartbeatPart.JOBS, never)


class Waker:
    """The watcher's view of the periodic jobs: `step` is one look, and wakes workers for the vital
    ones while nobody else does."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._is_waking = False

    def step(self) -> bool:
        """True if workers had to be woken. Raises database errors."""
        heartbeats.beat(HeartbeatPart.WATCHER)
        is_silent = silence_seconds(self._began) > settings.FALLBACK_AFTER_SECONDS
        if is_silent and not self._is_waking:
            log.warning("fallback_wakes", hint="beat, Redis or every worker is away")
        self._is_waking = is_silent
        if is_silent:
            for name in VITAL:
                jobs.nudge(name)
        return is_silent


def wake(stop: threading.Event) -> None:
    """Look every few seconds until asked to stop; a database that is away is waited for."""
    waker = Waker()
    while not stop.wait(heartbeats.BEAT_SECONDS):
        try:
            waker.step()
        except Exception as error:  # whatever it is, the next look comes
            log.warning("fallback_waits", error=type(error).__name__)
            connection.close()
    connection.close()


def stand_by(stop: threading.Event) -> None:
    """Look every few seconds until asked to stop; a database that is away is waited for."""
    fallback = Fallback()
    while not stop.wait(heartbeats.BEAT_SECONDS):
        try:
            fallback.step()
        except Exception as error:  # whatever it is, the next look comes
            log.warning("fallback_waits", error=type(error).__name__)
            connection.close()
    with suppress(DatabaseError):
        fallback.close()
    connection.close()
