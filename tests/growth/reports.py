"""A month's report of a store, as something to measure."""

from datetime import date, timedelta

from django.db import connection

from apps.reports.selectors import LINES, Extent, asset_sums, midnight
from tests.growth.buffers import reading
from tests.growth.seed import Town


def month_of(place: Town, first: date) -> Extent:
    begin, end = midnight(first), midnight(first + timedelta(days=30))
    return Extent(place.shop.store.pk, "live", "", "EUR", begin, end)


def read_month(extent: Extent) -> int:
    """Its sums and its lines; how many lines there are."""
    sums = asset_sums(extent)
    with connection.cursor() as cursor:
        cursor.execute(LINES, extent.arguments())
        lines = cursor.fetchall()
    assert len(lines) == sum(kind.entries for total in sums for kind in total.sums)
    return len(lines)


def month_report(place: Town, first: date) -> tuple[int, int]:
    """Its lines, and the buffers that it reads."""
    with reading() as read:
        lines = read_month(month_of(place, first))
    return lines, sum(read.buffers.values())
