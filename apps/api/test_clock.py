"""/test_clock: a store's test-mode time, which can be moved forward and runs everything that falls
due on the way."""

import threading
import time
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.errors import Broken
from apps.api.plumbing.refusals import ErrorDocument
from apps.api.plumbing.views import ApiView
from apps.core import clock
from apps.core.clock import iso
from apps.core.errors import Failure
from apps.core.messages.documents import Document, Time
from apps.core.messages.fields import Field, Schema, one_of, parse_moment
from apps.core.messages.requests import Request as Body
from apps.core.messages.requests import by
from apps.stores import test_clock
from apps.stores.models import Store
from apps.stores.test_clock import ClockBackwards, ClockInvalid

READY = "ready"
ADVANCING = "advancing"
WAIT_SECONDS = 25.0
BRIEF_WAIT_SECONDS = 1.0  # while another call of the process waits
LOOK_SECONDS = 0.05
_seat = threading.BoundedSemaphore(1)


class ClockStopped(Broken):
    """Something that fell due on the way failed; the log says what."""


class TestClockDocument(Document, frozen=True, kw_only=True):
    now: Time
    offset_seconds: int
    status: str


class TestClockMoving(Document, frozen=True, kw_only=True):
    """Under way to `target`."""

    status: str
    now: Time
    target: Time


class Seconds(Field):
    """Seconds of a test clock; every error about them is one sentence, by the clock."""

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": 0}


class Moment(Field):
    def schema(self) -> Schema:
        return {"type": "string", "format": "date-time"}


class ClockMove(Body, frozen=True, kw_only=True):
    """By some seconds, or to a time."""

    described: ClassVar[Schema] = one_of("seconds", "to")

    seconds: Annotated[Any, by(Seconds())] = None
    to: Annotated[Any, by(Moment())] = None


class ClockView(ApiView):
    shape = ErrorDocument

    def told(self) -> TestClockDocument:
        store = self.access.store
        status = READY if store.test_clock_target_seconds is None else ADVANCING
        return TestClockDocument(
            now=iso(self.access.now()), offset_seconds=store.test_offset_seconds, status=status
        )

    def refuse_live(self) -> None:
        test_clock.refuse_live(self.access.mode)


class TestClock(ClockView):
    """The store's test-mode time."""

    answers = {"GET": TestClockDocument}

    def get(self, request: Request) -> Response:
        self.refuse_live()
        return Response(self.told())


class Advance(ClockView):
    """Move the test clock forward and run what falls due."""

    answers = {"POST": TestClockDocument}
    also = {"POST": {202: TestClockMoving}}
    bodies = {"POST": ClockMove}

    def cost(self, request: Request) -> int:
        """As its service says; what can't be read takes one token."""
        try:
            return test_clock.cost_of(
                _step_seconds(self.read(request, ClockMove), self.access.now())
            )
        except Failure:
            return 1

    def post(self, request: Request) -> Response:
        self.refuse_live()
        store = self.access.store
        target = test_clock.move(
            store, self.access.mode, _step_seconds(self.read(request, ClockMove), self.access.now())
        )
        is_there = self._wait(store)
        if not is_there:
            goal = clock.real_now() + timedelta(seconds=target)
            return Response(
                TestClockMoving(status=ADVANCING, now=iso(self.access.now()), target=iso(goal)),
                status=202,
            )
        if store.test_offset_seconds < target:
            raise ClockStopped
        return Response(self.told())

    def _wait(self, store: Store) -> bool:
        """Tell whether it got there while this call waited. One call of a web process waits for
        long, the others briefly."""
        is_seated = _seat.acquire(blocking=False)
        deadline = time.monotonic() + (WAIT_SECONDS if is_seated else BRIEF_WAIT_SECONDS)
        try:
            while True:
                store.refresh_from_db(fields=["test_offset_seconds", "test_clock_target_seconds"])
                if store.test_clock_target_seconds is None:
                    return True
                if time.monotonic() > deadline:
                    return False
                time.sleep(LOOK_SECONDS)
        finally:
            if is_seated:
                _seat.release()


def _step_seconds(move: ClockMove, now: datetime) -> int:
    seconds = move.seconds
    to = move.to
    if (seconds is None) == (to is None):
        raise ClockInvalid
    if seconds is not None:
        if not isinstance(seconds, int) or isinstance(seconds, bool):
            raise ClockInvalid
        if seconds < 0:
            raise ClockBackwards
        return seconds
    moment = parse_moment(to)
    if moment is None:
        raise ClockInvalid
    if moment < now:
        raise ClockBackwards
    return -((now - moment) // timedelta(seconds=1))
