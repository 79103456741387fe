"""Beat, to whom Redis being away is no error of a job: it is logged once a minute, and what
couldn't be sent then is sent again when it is next due. Meanwhile a thread of it runs what can't
wait."""

import threading
import time
from typing import Any

import structlog
from celery.beat import PersistentScheduler, ScheduleEntry, SchedulingError
from celery.signals import beat_init
from kombu.exceptions import OperationalError

from apps.core.process.liveness import Liveness
from config.environment import ALIVE_FILE

log = structlog.get_logger(__name__)
liveness = Liveness(ALIVE_FILE)
TELL_SECONDS = 60.0


@beat_init.connect
def _stand_by(**_: Any) -> None:
    from apps.console import fallback

    stop = threading.Event()  # it ends with the process
    threading.Thread(target=fallback.stand_by, args=(stop,), name="fallback", daemon=True).start()


class Scheduler(PersistentScheduler):
    """Beat's scheduler: errors of a job are logged as Celery does."""

    _unsent = 0
    _told_at = float("-inf")

    def tick(self, *args: Any, **options: Any) -> float:
        liveness.touch()
        return float(super().tick(*args, **options))

    def apply_async(
        self, entry: ScheduleEntry, producer: Any = None, advance: bool = True, **options: Any
    ) -> Any:
        try:
            result = super().apply_async(entry, producer, advance, **options)
        except SchedulingError as error:
            cause = error.__context__
            if not isinstance(cause, self._outages()):
                raise
            self._unsent += 1
            self._tell_outage(cause)
            return None
        if self._unsent:
            log.info("redis_back", unsent=self._unsent)
            self._unsent = 0
        return result

    def _ensure_connected(self) -> Any:
        retries = self.app.conf.broker_connection_max_retries
        return self.connection.ensure_connection(lambda error, _: self._tell_outage(error), retries)

    def _outages(self) -> tuple[type[BaseException], ...]:
        """Exceptions of the broker's client and of kombu for an unreachable broker."""
        return (*self.connection.recoverable_connection_errors, OperationalError)

    def _tell_outage(self, error: BaseException) -> None:
        liveness.touch()  # it may wait here for as long as Redis is away
        if time.monotonic() < self._told_at + TELL_SECONDS:
            return
        self._told_at = time.monotonic()
        log.warning("redis_away", error=type(error).__name__, unsent=self._unsent)
