"""What the watcher does while periodic jobs don't run, because beat, Redis or every worker is away:
payments expire and settle, invoices hear of it, and prices stay current.

One watcher at a time does it, under a lease. Each job may run beside itself, so nothing is lost
when both sides run for a moment. What asks for transactions is left to workers, who alone hold the
keys to approve them (decision 347).
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from apps.core import heartbeats
from apps.core.db import locks
from apps.core.heartbeats import HeartbeatPart

log = structlog.get_logger(__name__)


def vital_jobs() -> dict[str, tuple[float, Callable[[], object]]]:
    """Seconds between two runs, and the run, by the name of the periodic job: loaded only when it
    is needed, because a watcher never needs it otherwise."""
    from apps.assets import rates
    from apps.billing.invoices import payment_intents
    from apps.payments.services import expire, settle

    return {
        "payments.settle_deposits": (5.0, settle.settle_deposits),
        "payments.expire_due": (5.0, expire.expire_due),
        "billing.update_paid_amounts": (5.0, payment_intents.update_paid_amounts),
        "assets.refresh_rates": (30.0, rates.refresh),
    }


class Fallback:
    """The watcher's view of the periodic jobs: `step` is one look, and runs what is due."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._lease: locks.LockLease | None = None
        self._next_runs: dict[str, float] = {}

    def step(self) -> bool:
        """Whether this watcher runs the vital jobs for now. Raises database errors."""
        heartbeats.beat(HeartbeatPart.WATCHER)
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
        """Since when no periodic job has run; on a new database, since this watcher began."""
        never = time.monotonic() - self._began
        return heartbeats.ages_seconds().get(HeartbeatPart.JOBS, never)

    def _hold(self) -> bool:
        if self._lease is None or not locks.is_held(self._lease):
            self._lease = locks.take(locks.Turn.FALLBACK_JOBS, "")
            if self._lease is not None:
                self._next_runs = {}
                log.warning("fallback_began", hint="beat, Redis or every worker is away")
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


def stand_by(stop: threading.Event) -> None:
    """Look every few seconds until told to stop; a database that is away is waited for."""
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
