"""Moving a store's test clock: what is refused, what it costs, and the job that does it
(apps.core.clock)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from apps.core import clock
from apps.core.errors import Failure, RefusalKind
from apps.core.models import Mode
from apps.stores.models import Store

OFFSET_SECONDS_MAX = 20 * 366 * 86400
POLICY = "test_clock"


class ClockLiveMode(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "test_clock_live_mode"
    message = "The test clock is for test credentials only"


class ClockBackwards(Failure):
    code = "test_clock_backwards"
    message = "The test clock only moves forward"


class ClockInvalid(Failure):
    code = "test_clock_invalid"
    message = "Give seconds (an integer) or to (an ISO 8601 time)"


class ClockAdvancing(Failure):
    kind = RefusalKind.CONFLICT
    code = "test_clock_advancing"
    message = "The test clock is being moved"


def refuse_live(mode: str) -> None:
    """Raises ClockLiveMode."""
    if mode != Mode.TEST:
        raise ClockLiveMode


def move(store: Store, mode: str, seconds: int) -> int:
    """Have a job move the clock forward by so much; the offset that it goes to.

    Raises ClockLiveMode, ClockBackwards, ClockInvalid and ClockAdvancing.
    """
    refuse_live(mode)
    if seconds < 0:
        raise ClockBackwards
    store.refresh_from_db(fields=["test_offset_seconds"])
    target = store.test_offset_seconds + seconds
    if target > OFFSET_SECONDS_MAX:
        raise ClockInvalid("The test clock can be at most 20 years ahead")
    if not clock.ask(store, target):
        raise ClockAdvancing
    return target


@dataclass(frozen=True)
class TestClockState:
    """Present time of the clock, and its target; `target` is None while it isn't being moved."""

    now: datetime
    real: datetime
    target: datetime | None

    @property
    def is_shifted(self) -> bool:
        return self.now != self.real or self.target is not None


def clock_of(store: Store) -> TestClockState:
    """As the row was read: a clock that is being moved is somewhere on its way."""
    real = clock.real_now()
    goal = store.test_clock_target_seconds
    return TestClockState(
        now=real + timedelta(seconds=store.test_offset_seconds),
        real=real,
        target=None if goal is None else real + timedelta(seconds=goal),
    )


def cost_of(seconds: int) -> int:
    """Tokens of the store's bucket: a long way takes more than a short one, up to all of a full
    one; one that is refused takes one."""
    if not 0 <= seconds <= OFFSET_SECONDS_MAX:
        return 1
    _, burst = settings.LIMITS[POLICY][Mode.TEST]
    return min(1 + seconds // (settings.TEST_CLOCK_DAYS_PER_TOKEN * 86400), burst)
