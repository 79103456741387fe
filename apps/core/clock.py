"""The one source of time. Live mode reads the real clock; test mode adds the store's offset, which
only grows. A store that is filled with a past begins behind (`begin`).

`ask` moves a store's test clock through every due moment in order, asking the modules named in
settings.DUE of which the store has anything.
"""

import math
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, Protocol, cast, overload

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    DateTimeField,
    ExpressionWrapper,
    F,
    Field,
    Func,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.lookups import GreaterThan

from apps.core import jobs
from apps.core.db import locks
from apps.core.db.sql import Statement

# Of a store whose clock is ahead, so many rows at once; what more is due comes with the next run.
AHEAD_MAX = 500
_WITHOUT_ZONE = len("2026-01-01T00:00:00.000000")
# In the order of lists, which each of the tables has an index for or few rows of a store: of the
# bare condition PostgreSQL may expect a row soon and read a whole table that has none.
_HAS_ROW = (
    "(SELECT true FROM {} WHERE store_id = %(store_id)s::uuid AND mode = 'test'"
    " ORDER BY created_at DESC LIMIT 1)"
)


class HasClock(Protocol):
    test_offset_seconds: int


class Due(Protocol):
    """A module of settings.DUE: what a store has waiting for its time to come.

    One that waits for strangers says for how long, in all, as `PATIENCE_SECONDS`: then the clock
    moves on without it, and what it has left is due and goes its usual way. One that neither names
    a moment nor does anything for a store without rows in some tables names their models, all of
    which have a store, as `LOOKS_AT`.
    """

    def next_due(self, store_id: Any, after: datetime | None) -> datetime | None:
        """The store's next due moment in test mode later than `after`, in store time."""

    def run_due(self, store_id: Any, now: datetime) -> None:
        """Do everything of the store's test mode that is due at `now`."""


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
    if moment is None:
        return None
    # Of a moment in UTC without its zone, which is six characters.
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:_WITHOUT_ZONE] + "Z"


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
    with locks.try_hold(locks.LockKind.TEST_CLOCK, store.pk) as is_mine:
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
    """Move it here and now, for a command. Waits for anyone else who moves it."""
    with locks.hold(locks.LockKind.TEST_CLOCK, store.pk):
        _advance(store, target_offset_seconds)


def _advance(store: Any, target_offset_seconds: int, steps_max: int = 10_000) -> None:
    """Forward to the offset, running what falls due on the way, in order; the offset only ever
    grows."""
    modules = _Modules(store.pk)
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


class _Modules:
    """All of them, in their order, and whether they have anything of a store.

    A row that is there stays in its table; what was found empty is looked at again once a module
    has run, as that may have made a row of any kind.
    """

    def __init__(self, store_id: Any) -> None:
        self.all = [cast(Due, import_module(path)) for path in settings.DUE]
        self._store_id = store_id
        tables = [(module, getattr(module, "LOOKS_AT", ())) for module in self.all]
        self._looking = [(module, models) for module, models in tables if models]
        self._empty = {module for module, _ in self._looking}
        self._is_known = False

    def has_any(self, module: Due) -> bool:
        """True if the module may have something of the store."""
        if module in self._empty and not self._is_known:
            self._look()
        return module not in self._empty

    def run(self, module: Due, now: datetime) -> None:
        self._is_known = False
        module.run_due(self._store_id, now)

    def _look(self) -> None:
        columns = ", ".join(_has_row_in(models) for _, models in self._looking)
        # Names of our own tables.
        (row,) = Statement(f"SELECT {columns}").rows(store_id=self._store_id)
        pairs = zip(self._looking, row, strict=True)
        self._empty = {module for (module, _), has_rows in pairs if not has_rows}
        self._is_known = True


def _has_row_in(models: tuple[type[Model], ...]) -> str:
    rows = ", ".join(_HAS_ROW.format(model._meta.db_table) for model in models)
    return f"coalesce({rows}, false)"
