"""Keeps claiming while slow receivers are still in flight. One dispatcher per process, asleep until
a job wakes it.

It works in a thread of its own, so no worker is ever held up by a receiver. Endpoints that have
never answered 2xx or took long lately have places of their own, so that nobody who answers waits
for theirs. When the process dies, leases end and the sweep finds the rows.
"""

import math
import threading
import time
import uuid
from datetime import datetime

import structlog
from django.db import connection

from apps.core.clock import real_now
from apps.webhooks.delivery import queue
from apps.webhooks.delivery.held import HeldAttempts
from apps.webhooks.delivery.queue import AttemptResult
from apps.webhooks.delivery.sender import WebhookSender

log = structlog.get_logger(__name__)
# Attempts in flight: to endpoints that answer, and to those that have not or took long.
QUICK_MAX = 400
SLOW_MAX = 100
SLOW_SECONDS = 2.0
REMEMBERED_SECONDS = 600.0
# While something is in flight the queue is looked at so often, whether or not a job has come
# through.
POLL_SECONDS = 0.25
# Results are written down together that come within so long.
GATHER_SECONDS = 0.02
LINGER_SECONDS = 20.0
# Endpoints of which an attempt took long, and until when this process remembers it.
_slow_until: dict[uuid.UUID, float] = {}


def drain(
    sender: WebhookSender, store_id: uuid.UUID | None = None, deadline: float = math.inf
) -> None:
    """Send until nothing is due (or the deadline has passed) and nothing of this sender is in
    flight."""
    held = HeldAttempts()
    is_woken = True
    while True:
        is_over = time.monotonic() >= deadline
        if is_over:
            held.give_back([attempt.endpoint_id for attempt in held.waiting()])
        elif is_woken or held.has_room:
            claimed = queue.claim(
                real_now(),
                QUICK_MAX - held.quick,
                store_id,
                slow=_slow(),
                slow_limit=SLOW_MAX - held.slow,
                held=held.claims(),
            )
            held.add(claimed)
        sender.start(held.take())
        returned = held.returned()
        queue.release(returned)
        if held.is_empty and (is_over or not returned):
            return
        results, is_woken = _results(sender, held, deadline)
        _remember(results)
        held.give_back(queue.record(results, held.waiting()))


def _results(
    sender: WebhookSender, held: HeldAttempts, deadline: float
) -> tuple[list[AttemptResult], bool]:
    """Results until an endpoint has room for claims or a moment is over, and whether the queue is
    to be looked at. What waits for an endpoint is begun when one of its attempts is over, not when
    that is written down."""
    results: list[AttemptResult] = []
    ends_at = time.monotonic() + POLL_SECONDS
    while not held.is_empty and (left := ends_at - time.monotonic()) > 0:
        found = sender.take(left)
        held.end(found)
        if time.monotonic() < deadline:
            sender.start(held.take())
        if found and not results:
            ends_at = time.monotonic() + GATHER_SECONDS
        results += found
        if sender.is_woken or held.has_room:
            break
    return results, sender.is_woken or not results


def _slow() -> list[uuid.UUID]:
    at = time.monotonic()
    for endpoint_id, until in list(_slow_until.items()):
        if until <= at:
            _slow_until.pop(endpoint_id, None)
    return list(_slow_until)


def _remember(results: list[AttemptResult]) -> None:
    until = time.monotonic() + REMEMBERED_SECONDS
    for result in results:
        if result.duration_ms > SLOW_SECONDS * 1000:
            _slow_until[result.attempt.endpoint_id] = until
        elif result.response_status is not None:
            _slow_until.pop(result.attempt.endpoint_id, None)


def send_due(store_id: uuid.UUID, now: datetime, patience_seconds: float) -> None:
    """Send here and now what of a store's test mode is due at `now` (store time), and wait for what
    others are sending.

    When patience is over no further attempt is begun: what is left is due, and goes out by the
    dispatcher.
    """
    if not queue.is_busy(store_id, now):
        return
    deadline = time.monotonic() + patience_seconds
    with WebhookSender() as sender:
        while time.monotonic() < deadline:
            drain(sender, store_id, deadline)
            if not queue.is_busy(store_id, now):
                return
            sender.take(0.02)


class Dispatcher:
    """The background thread of one process: started by `wake`, ends after a while without work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sender: WebhookSender | None = None

    def wake(self) -> None:
        """Have the queue looked at now."""
        with self._lock:
            if self._sender is not None:
                self._sender.wake()
                return
            self._sender = WebhookSender()
            threading.Thread(
                target=self._run, args=[self._sender], name="webhook-dispatcher", daemon=True
            ).start()

    def _run(self, sender: WebhookSender) -> None:
        try:
            with sender:
                self._work(sender)
        except Exception:
            log.exception("webhook_dispatcher_failed")
            with self._lock:
                self._sender = None
        finally:
            connection.close()

    def _work(self, sender: WebhookSender) -> None:
        while True:
            drain(sender)
            if sender.was_woken(LINGER_SECONDS):
                continue
            with self._lock:
                if sender.is_silent:
                    self._sender = None
                    return


dispatcher = Dispatcher()
