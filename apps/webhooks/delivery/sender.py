"""An event loop in a thread of its own that posts attempts and hands back results; it never touches
the database.

The thread that owns a Sender talks to PostgreSQL, the loop talks to receivers: neither waits for
the other.
"""

import asyncio
import queue
import random
import ssl
import threading
import time
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

import uvloop

from apps.core.clock import real_now
from apps.core.outbound import net
from apps.core.outbound import strangers as posting
from apps.webhooks.delivery.queue import ATTEMPTS_MAX, AttemptResult, DueAttempt
from apps.webhooks.models import RESPONSE_KEPT_BYTES, Delivery

# Seconds from each failed attempt to the next one.
RETRY_SECONDS = (30, 120, 300, 600, 1800, 3600, 7200, 18000, 36000)
JITTER = 0.1


class WebhookSender:
    """`start` attempts, `take` results; `wake` makes a waiting `take` return, which `is_woken` says
    of the last."""

    def __init__(
        self, lookup: posting.Lookup = posting.system_lookup, context: ssl.SSLContext | None = None
    ) -> None:
        self._lookup = lookup
        self._context = context
        self._done: queue.SimpleQueue[AttemptResult | None] = queue.SimpleQueue()
        self._loop = uvloop.new_event_loop()
        # kept, unlike a call of `stop` that comes before the loop is running.
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.is_woken = False
        self._thread = threading.Thread(target=self._run, name="webhook-sender", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    def start(self, attempts: list[DueAttempt]) -> None:
        if attempts:
            self._loop.call_soon_threadsafe(self._start, attempts)

    def wake(self) -> None:
        self._done.put(None)

    @property
    def is_silent(self) -> bool:
        """True if no wake-up call (and no result) waits to be taken."""
        return self._done.empty()

    def take(self, wait_seconds: float) -> list[AttemptResult]:
        """All results there are, after waiting for the first; empty when only woken, or when the
        time is over."""
        results: list[AttemptResult | None] = []
        try:
            results.append(self._done.get(timeout=wait_seconds))
            while True:
                results.append(self._done.get_nowait())
        except queue.Empty:
            self.is_woken = None in results
            return [result for result in results if result is not None]

    def was_woken(self, wait_seconds: float) -> bool:
        """Wait for a wake-up call while nothing is in flight."""
        try:
            self._done.get(timeout=wait_seconds)
        except queue.Empty:
            return False
        return True

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._open())
        try:
            self._loop.run_until_complete(self._ended.wait())
        finally:
            for task in self._tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
            self._loop.run_until_complete(self._session.close())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _open(self) -> None:
        """Without a pause: attempts that were started before the loop ran find the session."""
        self._session = posting.open_session(self._lookup, self._context)

    def _start(self, attempts: list[DueAttempt]) -> None:
        for attempt in attempts:
            task = self._loop.create_task(self._send(attempt))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, attempt: DueAttempt) -> None:
        started = time.monotonic()
        answer = None
        error = None
        is_private = False
        try:
            answer = await posting.post(self._session, attempt.url, attempt.body, attempt.headers)
        except net.PrivateAddress:
            error = "private_address"
            is_private = True
        except posting.NoAnswer as failure:
            error = str(failure)
        except Exception as failure:  # a delivery must end, whatever a receiver found to break
            error = type(failure).__name__
        duration_ms = int((time.monotonic() - started) * 1000)
        self._done.put(
            result_of(attempt, real_now(), answer, error, duration_ms, is_private=is_private)
        )


def result_of(
    attempt: DueAttempt,
    now: datetime,
    answer: posting.Answer | None,
    error: str | None,
    duration_ms: int,
    *,
    is_private: bool = False,
) -> AttemptResult:
    """Decide what becomes of the delivery. Any answer but 2xx is a failed attempt; a private
    address ends it at once."""
    at = now + timedelta(seconds=attempt.offset_seconds)
    code = answer.status if answer else None
    text = (
        answer.body[:RESPONSE_KEPT_BYTES].decode("utf-8", "replace").replace("\x00", "�")
        if answer
        else None
    )
    status = Delivery.Status.PENDING
    next_at = None
    if code is not None and 200 <= code < 300:
        status = Delivery.Status.DELIVERED
    elif is_private or attempt.number >= ATTEMPTS_MAX:
        status = Delivery.Status.FAILED
    else:
        next_at = at + timedelta(seconds=retry_seconds(attempt.number))
    if code is not None and status != Delivery.Status.DELIVERED:
        error = f"http_{code}"
    return AttemptResult(attempt, status.value, at, next_at, code, text, error, duration_ms)


def retry_seconds(failed: int) -> float:
    """Wait after the failed attempt with this number, give or take a tenth."""
    return RETRY_SECONDS[failed - 1] * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  # spreads load, hides nothing
