"""The list of a store's payments: a page of those that are asked for and how many there are, in one
statement that indexes answer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import cache

from apps.core import list_pages
from apps.core.db.prepared_reads import Columns
from apps.core.db.sql import Statement, array
from apps.core.messages.fields import parse_date
from apps.core.models import Viewer
from apps.payments.models import Payment
from apps.payments.models.payments import PART_LENGTH, PART_PLACES, REFERENCE_LENGTH
from apps.payments.selectors import is_storable
from apps.stores.models import Store

_WILDCARD = re.compile(r"[\\%_]")


@dataclass(frozen=True)
class PaymentCriteria:
    """Filters of a list. Unrecognized statuses and unreadable dates are ignored; `reference` is a
    case-insensitive part; days are those of `zone`, inclusive."""

    status: str | None = None
    reference: str | None = None
    order_id: str | None = None
    first_day: str | None = None
    last_day: str | None = None
    zone: tzinfo = UTC

    def values(self) -> dict[str, str | datetime] | None:
        """Name each restriction; None when nothing can be found."""
        if not all(is_storable(text) for text in (self.reference, self.order_id) if text):
            return None
        values: dict[str, str | datetime] = {}
        if self.status in Payment.Status.values:
            values["status"] = self.status
        if self.reference:
            reference = self.reference.upper()
            if len(reference) > REFERENCE_LENGTH:
                return None
            values[_kind_of(reference)] = reference
        if self.order_id:
            values["order_id"] = self.order_id
        if (day := parse_date(self.first_day)) is not None:
            values["since"] = datetime.combine(day, time(), self.zone)
        if (day := parse_date(self.last_day)) is not None and day.toordinal() < day.max.toordinal():
            values["before"] = datetime.combine(day + timedelta(days=1), time(), self.zone)
        return values


def _kind_of(reference: str) -> str:
    """The condition that finds what is asked for as a reference, by how much of one it is."""
    if len(reference) == REFERENCE_LENGTH:
        return "reference"
    return "reference_part" if len(reference) >= PART_LENGTH else "reference_letters"


_ROW = Columns(Payment, "p")
_LIKE = "'%' || %({})s::text || '%'"
# Those whose reference holds the part, of those that hold all of its threes: by the index of them.
# Those of the store are read once, whose number and page both come from that: by their keys alone,
# for PostgreSQL would look for them among all payments of a store.
_NAMED = f"""
WITH named AS MATERIALIZED (
    SELECT payment_id FROM payments_paymentreference
    WHERE ARRAY[{", ".join(f"SUBSTRING(reference, {n}, {PART_LENGTH})" for n in PART_PLACES)}]
            @> %(threes)s::text[]
        AND reference LIKE {_LIKE.format("reference_part")}
), named_ones AS MATERIALIZED (
    SELECT id, created_at FROM (
        SELECT * FROM payments_payment WHERE id = ANY (ARRAY(SELECT payment_id FROM named)) OFFSET 0
    ) found WHERE {{own}}
)
"""  # noqa: S608  # our own text
# What has an index of its own. Without any of it a range of time, if of all time, says which index
# to read, also to a plan for stores of any size.
_SELECTIVE = frozenset({"status", "order_id", "reference", "reference_part"})
_ALL_TIME = {"since": "-infinity", "before": "infinity"}
_CONDITIONS = {
    "status": "status = %(status)s",
    "reference": "reference = %(reference)s",
    "reference_letters": f"reference LIKE {_LIKE.format('reference_letters')}",
    "order_id": "order_id = %(order_id)s",
    "since": "created_at >= %(since)s",
    "before": "created_at < %(before)s",
}


@cache
def _page_statement(names: tuple[str, ...], counted_max: int) -> Statement:
    """Of a list that is restricted so: how many there are, counted to one more than the cap, beside
    each of those on the page, or alone.

    Both are found by an index alone. The oldest are counted first: their pages don't
    change any more. Limits that aren't known let PostgreSQL read in the order of an index: beneath
    the policies it expects too few rows, and would sort them all.
    """
    conditions = [_CONDITIONS[name] for name in names if name in _CONDITIONS]
    own = " AND ".join(["store_id = %(store_id)s", "mode = %(mode)s", *conditions])
    head, rows = "", f"payments_payment WHERE {own}"
    if "reference_part" in names:
        head, rows = _NAMED.format(own=own), "named_ones"
    return Statement(f"""{head}
SELECT n.total, {_ROW.text} FROM (SELECT count(*) AS total FROM (
    SELECT FROM {rows} ORDER BY created_at
    LIMIT (SELECT {counted_max + 1})) counted) n
LEFT JOIN (SELECT * FROM payments_payment WHERE id = ANY (ARRAY(
    SELECT id FROM {rows} ORDER BY created_at DESC, id DESC
    LIMIT (SELECT %(size)s::bigint) OFFSET (SELECT %(first)s::bigint)))) p ON true
ORDER BY p.created_at DESC, p.id DESC
""")  # noqa: S608  # only names of columns and conditions of ours are put in


def page_of_payments(
    viewer: Viewer, store: Store, criteria: PaymentCriteria, first: int, size: int
) -> tuple[list[Payment], int]:
    """The viewer's payments from this place on, newest first, and how many there are, counted to
    the cap. `store` is the viewer's."""
    values = criteria.values()
    if values is None:
        return [], 0
    if not _SELECTIVE & values.keys():
        values = {**_ALL_TIME, **values}
    statement = _page_statement(tuple(values), list_pages.COUNTED_MAX)
    rows = statement.rows(
        store_id=viewer.store_id,
        mode=viewer.mode,
        first=first,
        size=size,
        **_looked_for(values),
    )
    payments = [_ROW.row(row[1:]) for row in rows if row[1] is not None]
    for payment in payments:
        payment.store = store
    return payments, rows[0][0]


def _looked_for(values: dict[str, str | datetime]) -> Mapping[str, object]:
    """Arguments of the statement: a part of a reference literally, with its threes of letters."""
    arguments: dict[str, object] = dict(values)
    for name in ("reference_part", "reference_letters"):
        if name in values:
            arguments[name] = _WILDCARD.sub(r"\\\g<0>", str(values[name]))
    if "reference_part" in values:
        part = str(values["reference_part"])
        threes = (part[n : n + PART_LENGTH] for n in range(len(part) - PART_LENGTH + 1))
        arguments["threes"] = array(dict.fromkeys(threes))
    return arguments
