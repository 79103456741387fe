"""The one source of time. Live mode reads the real clock; test mode adds the store's offset, which
only grows.

A store that is filled with a past begins behind (`begin`). `ask` moves a store's test clock through
every due moment in order, asking the modules named in settings.DUE (apps.core.due).
"""

import math
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, overload

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    DateTimeField,
    ExpressionWrapper,
    F,
    Field,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.lookups import GreaterThan

from apps.core import jobs
from apps.core.db import locks
from apps.core.due import Due, Modules

# Of a store whose clock is ahead, so many rows at once; what more is due comes with the next run.
AHEAD_MAX = 500


class HasClock(Protocol):
    test_offset_seconds: int


def real_now() -> datetime:
    """The machine's time, aware, UTC."""
    return datetime.now(UTC)


def now(store: HasClock, mode: str) -> datetime:
    """The time that holds for a store in a mode."""
    return real_now() + offset(store, mode)


def offset(store: HasClock, mode: str) -> timedelta:
    return timedelta(seconds=store.test_offset_seconds) if mode == "test" else timedelta(0)


def is_due(column: str, real: datetime) -> Q:
    """Of rows with a mode and a store: the column's moment has come by the store's own time."""
    ahead = ExpressionWrapper(
        Value(real) + F("store__test_offset_seconds") * Value(timedelta(seconds=1)),
        output_field=DateTimeField(),
    )
    return Q(mode="live", **{f"{column}__lte": real}) | Q(mode="test", **{f"{column}__lte": ahead})


def is_due_apart(
    column: str, rows: "QuerySet[Any]", real: datetime, stores_ahead: Sequence[Any]
) -> tuple[Q, Q]:
    """`is_due` in two halves, so that what isn't due is never read: what has come by the machine's
    time too, and what only the clocks of these stores, which are ahead, have come to.

    The second goes store by store, along an index of the model's test rows by store and column. At
    most AHEAD_MAX of each are found at once.
    """
    stores = rows.model._meta.get_field("store").related_model._default_manager
    by_clock = ExpressionWrapper(
        Value(real) + OuterRef("test_offset_seconds") * Value(timedelta(seconds=1)),
        output_field=DateTimeField(),
    )
    # As a pair no index serves it but one by store: of a range PostgreSQL expects so few rows that
    # it went through those of all stores as well.
    is_later = GreaterThan(
        Func(F("store"), F(column), function="ROW", output_field=Field()),
        Func(OuterRef("pk"), Value(real), function="ROW", output_field=Field()),
    )
    of_store = rows.filter(
        is_later, store=OuterRef("pk"), mode="test", **{f"{column}__lte": by_clock}
    )
    due = ArraySubquery(of_store.order_by(column).values("pk")[:AHEAD_MAX])
    ahead = stores.filter(pk__in=stores_ahead, test_offset_seconds__gt=0).annotate(due=due)
    is_ahead = Q(pk__in=[pk for pks in ahead.values_list("due", flat=True) for pk in pks])
    is_past = is_due(column, real)
    return is_past & Q(**{f"{column}__lte": real}), is_past & is_ahead


@overload
def iso(moment: datetime) -> str: ...
@overload
def iso(moment: datetime | None) -> str | None: ...
def iso(moment: datetime | None) -> str | None:
    """ISO 8601, UTC, microseconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") if moment else None


def begin(store: Any, behind_seconds: int) -> None:
    """Let a store's test mode, in which nothing has happened, begin so long ago."""
    type(store).objects.filter(pk=store.pk, test_offset_seconds=0).update(
        test_offset_seconds=-behind_seconds
    )
    store.refresh_from_db(fields=["test_offset_seconds"])


def ask(store: Any, target_offset_seconds: int) -> bool:
    """Have the store's test clock moved to the offset by a job; False when it is being moved
    already."""
    values = {"test_clock_target_seconds": target_offset_seconds}
    rows = type(store).objects.filter(pk=store.pk, test_clock_target_seconds=None)
    if not rows.update(**values):
        return False
    if settings.WORK_INLINE:
        finish(store)
    else:
        for job in jobs.followers("core.test_clock_requested"):
            jobs.nudge(job, [str(store.pk)])
    return True


def finish(store: Any) -> None:
    """Move the store's test clock to where it was asked to be, unless another job does. One that
    fails stays where it came to."""
    with locks.try_hold(locks.Turn.TEST_CLOCK, store.pk) as is_mine:
        if not is_mine:
            return
        store.refresh_from_db(fields=["test_clock_target_seconds", "test_offset_seconds"])
        if store.test_clock_target_seconds is None:
            return
        try:
            _advance(store, store.test_clock_target_seconds)
        finally:
            type(store).objects.filter(pk=store.pk).update(test_clock_target_seconds=None)
            store.test_clock_target_seconds = None


def advance(store: Any, target_offset_seconds: int) -> None:
    """Move it here and now, for a command. Waits for whoever else moves it."""
    with locks.hold(locks.Turn.TEST_CLOCK, store.pk):
        _advance(store, target_offset_seconds)


def _advance(store: Any, target_offset_seconds: int, steps_max: int = 10_000) -> None:
    """Forward to the offset, running what falls due on the way, in order; the offset only ever
    grows."""
    modules = Modules(store.pk)
    due = list(modules.all)
    spent: dict[Due, float] = {}
    at: datetime | None = None
    for _ in range(steps_max):
        target = real_now() + timedelta(seconds=target_offset_seconds)
        moments = [
            moment
            for module in due
            if modules.has_any(module)
            and (moment := module.next_due(store.pk, at)) is not None
            and moment <= target
        ]
        if not moments:
            break
        at = min(moments)
        needed = int((at - real_now()).total_seconds()) + 1
        _set_offset(store, min(max(needed, store.test_offset_seconds), target_offset_seconds))
        for module in list(due):
            if not modules.has_any(module):
                continue
            began = time.monotonic()
            modules.run(module, max(at, now(store, "test")))
            spent[module] = spent.get(module, 0.0) + time.monotonic() - began
            if spent[module] >= getattr(module, "PATIENCE_SECONDS", math.inf):
                due.remove(module)
    _set_offset(store, target_offset_seconds)


def _set_offset(store: Any, seconds: int) -> None:
    type(store).objects.filter(pk=store.pk, test_offset_seconds__lt=seconds).update(
        test_offset_seconds=seconds
    )
    store.refresh_from_db(fields=["test_offset_seconds"])
