"""Keeps claiming while slow receivers are still in flight. One dispatcher per process, asleep until a job wakes it.

It works in a thread of its own, so no worker is ever held up by a receiver. When the process dies, leases end and the sweep finds
the rows.
"""

import threading
import time
import uuid
from datetime import datetime

import structlog
from django.db import connection

from apps.core.clock import real_now
from apps.webhooks.delivery import queue
from apps.webhooks.delivery.sender import Sender

log = structlog.get_logger(__name__)
IN_FLIGHT_MAX = 500
POLL_SECONDS = 1.0
LINGER_SECONDS = 20.0
FORCED_WAIT_SECONDS = 120.0


def drain(sender: Sender, store_id: uuid.UUID | None = None) -> None:
    """Send until nothing is due and nothing of this sender is in flight."""
    in_flight = 0
    while True:
        attempts = queue.claim(real_now(), IN_FLIGHT_MAX - in_flight, store_id)
        sender.start(attempts)
        in_flight += len(attempts)
        if not in_flight:
            return
        results = sender.take(POLL_SECONDS)
        in_flight -= len(results)
        queue.record(results)


def send_due(store_id: uuid.UUID, now: datetime) -> None:
    """Send here and now everything of a store's test mode that is due at `now` (store time), and wait for what others are sending."""
    deadline = time.monotonic() + FORCED_WAIT_SECONDS
    with Sender() as sender:
        while queue.is_busy(store_id, now) and time.monotonic() < deadline:
            drain(sender, store_id)
            if queue.is_busy(store_id, now):
                sender.take(0.02)


class Dispatcher:
    """The background thread of one process: started by `wake`, ends after a while without work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sender: Sender | None = None

    def wake(self) -> None:
        """Have the queue looked at now."""
        with self._lock:
            if self._sender is not None:
                self._sender.wake()
                return
            self._sender = Sender()
            threading.Thread(target=self._run, args=[self._sender], name="webhook-dispatcher", daemon=True).start()

    def _run(self, sender: Sender) -> None:
        try:
            with sender:
                self._work(sender)
        except Exception:
            log.exception("webhook_dispatcher_failed")
            with self._lock:
                self._sender = None
        finally:
            connection.close()

    def _work(self, sender: Sender) -> None:
        while True:
            drain(sender)
            if sender.was_woken(LINGER_SECONDS):
                continue
            with self._lock:
                if sender.is_silent:
                    self._sender = None
                    return


dispatcher = Dispatcher()
