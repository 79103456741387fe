"""The one way to walk everybody's rows: each in its own try and transaction, so that none of them
stops the others.

A row that raises becomes a RowFailure and pauses, longer each time; after `ROW_TRIES_MAX` tries it
waits for staff. What is paused takes no place in a batch; what didn't fit is in the next. A
database that has gone is nobody's error: it ends the run.
"""

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Count, Model, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Coalesce

from apps.core.clock import is_due_apart, real_now
from apps.core.db.constraints import constraint_of
from apps.core.db.pruning import prune
from apps.core.db.sql import Statement, array
from apps.core.models import RowFailure, RowTurn
from apps.core.process.logs import redact

log = structlog.get_logger(__name__)
RUN_SECONDS_MAX = 200  # a job has 300
PAUSE_SECONDS_MAX = 3600
VITAL_PAUSE_SECONDS_MAX = 60
# Stores whose test clocks are ahead, of which a run asks whether anything is due.
AHEAD_STORES_MAX = 500
FORGOTTEN_AFTER = timedelta(days=7)
_ROOT = Path(__file__).parents[2]
# A lost connection (08), no resources (53), a server that stops (57P), one that only reads (25006).
_OUTAGES = ("08", "53", "57P")
_READ_ONLY = "25006"
# What is paused, as text, for a statement that finds its rows itself.
PAUSED_SQL = (
    "SELECT row_id FROM core_rowfailure WHERE job = %(job)s AND (dead_at IS NOT NULL OR not_before"
    " > %(now)s)"
)
# Does rows as a set, and returns those that it leaves.
Together = Callable[[Sequence[Any]], Sequence[Any]]
_FAILED = Statement(
    "SELECT row_id FROM core_rowfailure WHERE job = %(job)s AND row_id = ANY (%(ids)s::text[])"
)


@dataclass(frozen=True)
class Job:
    """Work on rows, by its name in the list of failures.

    One that asks somebody outside has no transaction around its rows. The rows of a vital one (a
    chain, say) are never given up and pause for a minute at most. `raises` are errors that end the
    run: those of a partner that every row would meet.
    """

    name: str
    limit: int = 100
    in_transaction: bool = True
    is_vital: bool = False
    raises: tuple[type[Exception], ...] = ()

    def walk(
        self,
        rows: "QuerySet[Any]",
        act: Callable[[Any], object],
        *,
        mode: str = "",
        seconds_max: float = RUN_SECONDS_MAX,
    ) -> int:
        """Do `act` to each of these rows that isn't paused, at most `limit`; how many were tried.

        Rows come in their order while they all fit; of more, each run takes those that follow the
        last one's. Runs of one `mode` have their own place for that. `act` gets what the query
        brings: ids or instances.
        """
        with self._ending(mode, seconds_max) as run:
            batch, run.is_part = self._batch(self.ready(rows), run.turn)
            run.over(batch, act, _id_of)
        return run.done

    def walk_due(
        self,
        rows: "QuerySet[Any]",
        column: str,
        act: Callable[[Any], object],
        real: datetime,
        of_store: Q | None = None,
    ) -> int:
        """Walks IDs of rows whose moment in `column` has come by their store's time. Those due by
        the machine's time and those of clocks that are ahead have half of the run each. What
        `of_store` asks of their stores is asked of rows that are due alone."""
        apart = is_due_apart(column, rows, real, self.stores_ahead(rows.model))
        parts = zip(("", "ahead"), apart, strict=True)
        return sum(
            self.walk(
                rows.filter(is_due, of_store or Q()).values_list("pk", flat=True),
                act,
                mode=name,
                seconds_max=RUN_SECONDS_MAX / 2,
            )
            for name, is_due in parts
        )

    def each(
        self,
        find: Callable[[], Sequence[Any]],
        act: Callable[[Any], object],
        id_of: Callable[[Any], str] | None = None,
        together: Together | None = None,
    ) -> int:
        """Walks rows of `find`, which leaves out those of `paused` itself.

        `together` does what it can of rows that haven't failed before as one set, in one
        transaction, and returns the others, which `act` does. When it raises it has done nothing,
        and each row is done alone: an error stays with the row whose it is.
        """
        with self._ending() as run:
            batch = find()
            if together is not None:
                batch = run.together(batch, together, id_of or _id_of)
            run.over(batch, act, id_of or _id_of)
        return run.done

    def stores_ahead(self, model: type[Model]) -> list[Any]:
        """The stores of the model's rows whose test clocks are ahead, as many as a run asks: of
        more than AHEAD_STORES_MAX, those that follow the last run's."""
        related: Any = model._meta.get_field("store").related_model
        ahead = related._default_manager.filter(test_offset_seconds__gt=0, archive_of=None)
        ahead = ahead.order_by("pk")
        ids = list(ahead.values_list("pk", flat=True)[: AHEAD_STORES_MAX + 1])
        if len(ids) <= AHEAD_STORES_MAX:
            return ids
        turn = f"{self.name}:clocks"
        last = RowTurn.objects.filter(job=turn).values_list("row_id", flat=True).first()
        later = ahead.filter(pk__gt=last) if last else ahead
        following = list(later.values_list("pk", flat=True)[:AHEAD_STORES_MAX])
        following += ids[: AHEAD_STORES_MAX - len(following)]
        RowTurn.objects.update_or_create(job=turn, defaults={"row_id": str(following[-1])})
        return following

    def ready(self, rows: "QuerySet[Any]") -> "QuerySet[Any]":
        """The rows without those that wait out a pause or for staff."""
        return rows.exclude(pk__in=self.paused(rows.model))

    def paused(self, model: type[Model]) -> "QuerySet[Any]":
        """The keys of the model's rows that aren't to be looked at now."""
        key = model._meta.pk
        failures = RowFailure.objects.filter(
            Q(dead_at__isnull=False) | Q(not_before__gt=real_now()), job=self.name
        )
        return failures.annotate(
            key=Cast("row_id", output_field=getattr(key, "target_field", key))
        ).values("key")

    def again(self) -> list[str]:
        """Rows that failed and whose pause is over: for a job that finds its rows by what is
        new."""
        failures = RowFailure.objects.filter(
            job=self.name, dead_at=None, not_before__lte=real_now()
        )
        return list(failures.order_by("not_before").values_list("row_id", flat=True)[: self.limit])

    def pause_after(self, tries: int) -> timedelta:
        """Twice as long each time, up to an hour."""
        doubled = settings.ROW_PAUSE_SECONDS * 2 ** min(tries - 1, 20)
        return timedelta(
            seconds=min(doubled, VITAL_PAUSE_SECONDS_MAX if self.is_vital else PAUSE_SECONDS_MAX)
        )

    def _batch(self, rows: "QuerySet[Any]", turn: str) -> tuple[list[Any], bool]:
        """The rows of this run, and whether they are a part of what waits."""
        batch = list(rows[: self.limit + 1])
        if len(batch) <= self.limit:
            return batch, False
        last = RowTurn.objects.filter(job=turn).values_list("row_id", flat=True).first() or ""
        # Of an expression, which no index has: the index of what waits is to be used.
        in_turn = rows.alias(turn=Cast("pk", TextField())).order_by("turn")
        batch = list(in_turn.filter(turn__gt=last)[: self.limit])
        return batch + list(in_turn.filter(turn__lte=last)[: self.limit - len(batch)]), True

    @contextmanager
    def _ending(self, mode: str = "", seconds_max: float = RUN_SECONDS_MAX) -> "Iterator[_Run]":
        """A run, which a database that has gone ends with one line in the log."""
        run = _Run(self, mode, seconds_max)
        try:
            yield run
        except DatabaseError as error:
            if not is_outage(error):
                raise
            log.warning("run_ended", job=self.name, error=type(error).__name__)
            if not connection.in_atomic_block:
                connection.close()


class _Run:
    def __init__(self, job: Job, mode: str, seconds_max: float) -> None:
        self.job = job
        self.seconds_max = seconds_max
        self.done = 0
        self.is_part = False
        self.turn = f"{job.name}:{mode}" if mode else job.name

    def together(
        self, batch: Sequence[Any], act: Together, id_of: Callable[[Any], str]
    ) -> Sequence[Any]:
        """Those that are left to be done one by one."""
        failed_before = self._failed_before([id_of(row) for row in batch])
        alone = [row for row in batch if id_of(row) in failed_before]
        fresh = [row for row in batch if id_of(row) not in failed_before]
        try:
            with transaction.atomic():
                left = act(fresh) if fresh else fresh
        except self.job.raises:
            raise
        except Exception as error:  # whatever it is: the row whose it is meets it again
            if is_outage(error):
                raise
            log.info("rows_done_apart", job=self.job.name, error=_error_text(error))
            return batch
        self.done += len(fresh) - len(left)
        return [*left, *alone]

    def over(
        self, batch: Sequence[Any], act: Callable[[Any], object], id_of: Callable[[Any], str]
    ) -> None:
        """A part of what waits keeps its place; so does a run whose time was over."""
        began = time.monotonic()
        failed_before = self._failed_before([id_of(row) for row in batch])
        tried = 0
        for row in batch:
            self._try(row, id_of(row), act, failed_before)
            tried += 1
            if time.monotonic() - began > self.seconds_max:
                break
        self.done += tried
        if tried and (self.is_part or tried < len(batch)):
            RowTurn.objects.update_or_create(
                job=self.turn, defaults={"row_id": id_of(batch[tried - 1])}
            )

    def _failed_before(self, ids: list[str]) -> set[str]:
        rows = _FAILED.rows(job=self.job.name, ids=array(ids)) if ids else []
        return {row_id for (row_id,) in rows}

    def _try(
        self, row: Any, row_id: str, act: Callable[[Any], object], failed_before: set[str]
    ) -> None:
        try:
            with (
                transaction.atomic()
                if self.job.in_transaction or connection.in_atomic_block
                else nullcontext()
            ):
                act(row)
        except self.job.raises:
            raise
        except Exception as error:  # whatever else it is: it is this row's, and kept
            if is_outage(error):
                raise
            failure = self._count(row_id, error)
            log.exception(
                "row_failed",
                job=self.job.name,
                row=row_id,
                tries=failure.tries,
                is_dead=failure.dead_at is not None,
            )
        else:
            if row_id in failed_before:
                RowFailure.objects.filter(job=self.job.name, row_id=row_id).delete()

    @transaction.atomic
    def _count(self, row_id: str, error: Exception) -> RowFailure:
        at = real_now()
        text = _error_text(error)
        failure, is_new = RowFailure.objects.select_for_update().get_or_create(
            job=self.job.name,
            row_id=row_id,
            defaults={"tries": 1, "since": at, "not_before": at, "error": text},
        )
        failure.tries = failure.tries + (not is_new)
        failure.error = text
        failure.not_before = at + self.job.pause_after(failure.tries)
        is_dead = failure.tries >= settings.ROW_TRIES_MAX and not self.job.is_vital
        failure.dead_at = at if is_dead else None
        failure.save(update_fields=["tries", "error", "not_before", "dead_at"])
        return failure


def _id_of(row: Any) -> str:
    return str(getattr(row, "pk", row))


def retry(failures: "QuerySet[RowFailure]") -> int:
    """Staff have it looked at again; how many. One that fails again waits for staff again."""
    return failures.update(dead_at=None, not_before=real_now(), set_aside_reason="")


def set_aside(failures: "QuerySet[RowFailure]", reason: str) -> int:
    """Staff leave the rows as they are, for this reason: no job looks at them, and nobody is called
    any more. How many."""
    at = real_now()
    return failures.update(dead_at=Coalesce("dead_at", Value(at)), set_aside_reason=reason[:500])


def forget(now: datetime) -> dict[str, int]:
    """Failures of rows that never came up again: what was wrong with them was dealt with
    elsewhere."""
    return {
        "row_failures": prune(
            RowFailure.objects.filter(dead_at=None, not_before__lt=now - FORGOTTEN_AFTER)
        )
    }


def is_outage(error: BaseException) -> bool:
    """True if the database has gone, or takes nothing from anybody."""
    if not isinstance(error, DatabaseError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    if state is None:
        return isinstance(error, (OperationalError, InterfaceError))
    return bool(state.startswith(_OUTAGES) or state == _READ_ONLY)


def _error_text(error: Exception) -> str:
    """Class and place, and the sentence where it is our own: one of PostgreSQL's or a library's may
    quote the row."""
    texts = [type(error).__name__]
    if type(error).__module__.startswith("apps.") or isinstance(error, ObjectDoesNotExist):
        texts.append(redact(str(error)))
    if constraint := constraint_of(error):
        texts.append(constraint)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(_ROOT / "apps")
    ]
    place = (
        f" ({Path(frames[-1].filename).relative_to(_ROOT)}:{frames[-1].lineno})" if frames else ""
    )
    return ": ".join(texts)[: 300 - len(place)] + place


def failing() -> list[tuple[str, bool, int]]:
    """Number of failing rows, by job and by need of staff. What staff have set aside isn't among
    them."""
    rows = (
        RowFailure.objects.filter(set_aside_reason="")
        .annotate(is_dead=Q(dead_at__isnull=False))
        .values("job", "is_dead")
    )
    groups = rows.annotate(count=Count("pk")).order_by("job", "is_dead")
    return [(group["job"], group["is_dead"], group["count"]) for group in groups]
