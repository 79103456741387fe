"""A page of a list of the staff site: found by an index before anything is joined to it, and
counted up to a cap, so that a list of millions costs as much as one of a thousand."""

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib.postgres.indexes import BrinIndex
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property

from apps.core import clock, ids

if TYPE_CHECKING:
    _Paginator = Paginator[Any]
else:
    _Paginator = Paginator

COUNTED_MAX = 1_000
HOURS = (1, 24, 60 * 24)
TIMES = ("created_at", "requested_at", "detected_at")
BY_KEY = "-id"  # the ordering of a list whose rows are in the order in which they were made


class CappedPaginator(_Paginator):
    """Counts no further than its cap."""

    capped_at = COUNTED_MAX

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return len(rows)
        if not is_by_key(rows):
            return rows.order_by().values("pk")[:COUNTED_MAX].count()
        return len(_keys_by_key(rows, COUNTED_MAX))

    def page(self, number: int | str) -> "Page[Any]":
        number = self.validate_number(number)
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return super().page(number)
        first = (number - 1) * self.per_page
        keys = _newest_keys(rows, first + self.per_page)[first:]
        by_key = {row.pk: row for row in rows.filter(pk__in=keys)}
        return Page([by_key[key] for key in keys if key in by_key], number, self)


def is_by_key(rows: "QuerySet[Any]") -> bool:
    """True if the list has its rows as they were made, by IDs that begin with their time."""
    is_timed = isinstance(rows.model._meta.pk, ids.IdField)
    return is_timed and tuple(rows.query.order_by[:1]) == (BY_KEY,)


def _newest_keys(rows: "QuerySet[Any]", length: int) -> list[Any]:
    """The keys of so many rows, in the list's order. Where only the age of blocks of the table is
    indexed, the last hours are looked through first, and on a quiet service the last days."""
    if is_by_key(rows):
        return _keys_by_key(rows, length)
    bare = rows.select_related(None).values_list("pk", flat=True)
    column = str(rows.query.order_by[0]) if rows.query.order_by else ""
    if column.startswith("-") and column[1:] in _by_age(rows):
        for hours in HOURS:
            since = clock.real_now() - timedelta(hours=hours)
            keys = list(bare.filter(**{f"{column[1:]}__gt": since})[:length])
            if len(keys) == length:
                return keys
    return list(bare[:length])


def _keys_by_key(rows: "QuerySet[Any]", length: int) -> list[Any]:
    """Behind the rows whose IDs have a time are those with IDs of before, which are random
    and mostly greater."""
    bare = rows.select_related(None).values_list("pk", flat=True)
    keys = list(made_last(bare)[:length])
    if len(keys) < length:
        before = bare.filter(pk__gte=_first_id_to_come())
        keys += before.order_by(f"-{_time_of(rows)}", BY_KEY)[: length - len(keys)]
    return keys


def made_last(rows: "QuerySet[Any]") -> "QuerySet[Any]":
    """Those whose IDs tell when they were made, newest first."""
    return rows.filter(pk__lt=_first_id_to_come()).order_by(BY_KEY)


def _first_id_to_come() -> uuid.UUID:
    """No row has been made with it, whatever the clocks of several machines say."""
    return ids.first_id(clock.real_now() + timedelta(days=1))


def _time_of(rows: "QuerySet[Any]") -> str:
    """Column with the time of making."""
    names = {field.name for field in rows.model._meta.fields}
    return next(name for name in TIMES if name in names)


def _by_age(rows: "QuerySet[Any]") -> list[str]:
    """The times of which the table has the age of its blocks indexed."""
    indexes = rows.model._meta.indexes
    return [index.fields[0] for index in indexes if isinstance(index, BrinIndex)]
