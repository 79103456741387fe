"""The attempts that one drain has claimed: two of an endpoint are under way, the rest waits here.

An endpoint that answers gets as many claims at once as it can answer within half a second, so that
a quick one costs few statements. One that failed, took longer or was changed has what waits given
back.
"""

import time
import uuid
from collections import Counter, deque
from collections.abc import Iterable

from apps.webhooks.delivery.queue import PER_ENDPOINT_MAX, AttemptResult, DueAttempt, HeldClaims
from apps.webhooks.models import Delivery

BATCH_MAX = 16
BATCH_SECONDS = 0.5
WAIT_SECONDS = 2.0  # what has waited longer is given back


class HeldAttempts:
    """Used by one thread."""

    def __init__(self) -> None:
        self._waiting: dict[uuid.UUID, deque[tuple[float, DueAttempt]]] = {}
        self._returned: list[DueAttempt] = []
        self._under_way: Counter[uuid.UUID] = Counter()
        self._batches: dict[uuid.UUID, int] = {}
        self.quick = 0
        self.slow = 0
        self.has_room = True  # an endpoint whose attempt is over has nothing that waits

    @property
    def is_empty(self) -> bool:
        return not self._waiting and not self._under_way

    def claims(self) -> list[HeldClaims]:
        """Of each endpoint that has answered, or of which something is held: the number of claims
        that are held, and how many there may be."""
        held = {*self._batches, *self._under_way}
        return [
            HeldClaims(
                id,
                self._under_way[id] + len(self._waiting.get(id, ())),
                self._batches.get(id, PER_ENDPOINT_MAX),
            )
            for id in held
        ]

    def add(self, attempts: Iterable[DueAttempt]) -> None:
        at = time.monotonic()
        for attempt in attempts:
            self._waiting.setdefault(attempt.endpoint_id, deque()).append((at, attempt))

    def take(self) -> list[DueAttempt]:
        """The attempts whose turn it is, which are under way from now on."""
        oldest = time.monotonic() - WAIT_SECONDS
        taken = []
        for id, waiting in list(self._waiting.items()):
            while waiting and self._under_way[id] < PER_ENDPOINT_MAX:
                since, attempt = waiting.popleft()
                if since < oldest:
                    self._returned.append(attempt)
                    continue
                taken.append(attempt)
                self._count(attempt, 1)
            if not waiting:
                del self._waiting[id]
        return taken

    def end(self, results: Iterable[AttemptResult]) -> None:
        """Attempts that are over."""
        self.has_room = False
        for result in results:
            id = result.attempt.endpoint_id
            self._count(result.attempt, -1)
            batch = PER_ENDPOINT_MAX
            if result.status == Delivery.Status.DELIVERED:
                seconds = max(result.duration_ms, 1) / 1000
                batch = max(batch, min(BATCH_MAX, int(PER_ENDPOINT_MAX * BATCH_SECONDS / seconds)))
            self._batches[id] = batch
            if batch == PER_ENDPOINT_MAX:
                self.give_back([id])
            self.has_room |= id not in self._waiting

    def waiting(self) -> list[DueAttempt]:
        """One of each endpoint that something waits for."""
        return [waiting[0][1] for waiting in self._waiting.values()]

    def give_back(self, ids: Iterable[uuid.UUID]) -> None:
        """Let nothing that waits for these endpoints be begun any more."""
        for id in ids:
            self._returned += [attempt for _, attempt in self._waiting.pop(id, ())]

    def returned(self) -> list[DueAttempt]:
        """The attempts that are given back, once."""
        returned, self._returned = self._returned, []
        return returned

    def _count(self, attempt: DueAttempt, change: int) -> None:
        self._under_way[attempt.endpoint_id] += change
        if not self._under_way[attempt.endpoint_id]:
            del self._under_way[attempt.endpoint_id]
        if attempt.is_slow:
            self.slow += change
        else:
            self.quick += change
