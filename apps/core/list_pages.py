"""Pages of lists of any length: how many rows there are is counted to a cap, and what a row is
shown with is read of the page's rows alone."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet

COUNTED_MAX = 10_000
Row = TypeVar("Row", bound=Model)


def counted(rows: "QuerySet[Any]") -> int:
    """Number of rows; COUNTED_MAX + 1 means more."""
    return rows.order_by()[: COUNTED_MAX + 1].count()


def part(rows: "QuerySet[Row]", first: int, size: int) -> "QuerySet[Row]":
    """So many rows from this place on. Their keys are found before anything is joined: beneath the
    policies PostgreSQL expects too few rows, and would join them all. In a table divided by days
    a key alone would be looked for in every day."""
    bare = rows.select_related(None)
    if getattr(rows.model, "HAS_DAYS", False):
        times = dict(bare.values_list("pk", "created_at")[first : first + size])
        if not times:
            return rows.none()
        days = (min(times.values()), max(times.values()))
        return rows.filter(pk__in=times, created_at__range=days)
    return rows.filter(pk__in=bare.values("pk")[first : first + size])
