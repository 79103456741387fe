"""An account's entries page by page, newest first, each with the balance it left: a late page costs
what the first one does.

The cursor of a page carries the balance, so nothing is ever summed up from the beginning.
"""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection

from apps.core.db.sql import array
from apps.ledger.balance_marks import BALANCE_BEFORE

PAGE_MAX = 1_000
# Of an account with few entries of the kind that is looked for, so many are looked through before
# the page ends as it is.
SCAN_MAX = 10_000
SCANS = (2, 20)  # before that, so many times a page
# Entries of one moment may be in another order than their times, by no more than this.
DISORDER = timedelta(minutes=10)
_CURSOR = re.compile(r"([0-9]{1,19})\.(-?[0-9]{1,78})", re.ASCII)
_LAST_ID = 2**63 - 1

Arguments = dict[str, int | str | datetime | None]


@dataclass(frozen=True)
class LineFilter:
    """Filter of entries: all by default, of one kind of movement, from `since`, before `until`."""

    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class StatementLine:
    """An entry of an account, with the balance it left. `cursor` asks for the lines before it."""

    entry_id: int
    at: datetime
    kind: str
    role: str
    reference: uuid.UUID | None
    amount_atomic: int
    balance_atomic: int
    cursor: str
    account_id: int = 0


class StatementPage(NamedTuple):
    """Lines, newest first, and the cursor of the page before them; None when there is none."""

    lines: list[StatementLine]
    older: str | None


class _PageBoundary(NamedTuple):
    """Just after an entry, with the balance before what follows; the balance is None at the very
    end."""

    entry_id: int
    balance: int | None


# The plan walks the index and stops early: `number` and the sum stream, and the page is cut after
# them.
_PAGE = """
WITH scanned AS (
    SELECT e.id, e.movement_id, e.amount_atomic, e.role FROM ledger_entry e
    WHERE e.account_id = %(account)s AND e.id < %(id)s ORDER BY e.id DESC LIMIT %(scan)s
), start AS MATERIALIZED (
    SELECT coalesce(%(balance)s::numeric, ledger_balance(%(account)s)) AS balance
), told AS (
    SELECT s.id, m.at, m.kind, s.role, m.reference, s.amount_atomic, start.balance
               + s.amount_atomic - sum(s.amount_atomic) OVER newest AS balance,
           row_number() OVER newest AS number
    FROM start, scanned s JOIN ledger_movement m ON m.id = s.movement_id
        WINDOW newest AS (ORDER BY s.id DESC)
)
SELECT * FROM (
    SELECT *, (%(kind)s = '' OR kind = %(kind)s)
        AND (%(since)s::timestamptz IS NULL OR at >= %(since)s)
              AND (%(until)s::timestamptz IS NULL OR at < %(until)s) AS is_wanted
    FROM told
) every WHERE is_wanted OR number = %(scan)s ORDER BY number LIMIT %(limit)s
"""


def page(
    account_id: int,
    *,
    before: str | None = None,
    filters: LineFilter = LineFilter(),
    limit: int = 25,
) -> StatementPage:
    """A page of an account's entries; `before` is a cursor that a page gave. Raises ValueError for
    a cursor that is none."""
    limit = max(1, min(limit, PAGE_MAX))
    scan = limit + 1 if filters == LineFilter() else SCAN_MAX
    place = _place(before) if before is not None else _newest(account_id, filters.until)
    arguments: Arguments = {
        "account": account_id,
        "id": place.entry_id,
        "balance": place.balance,
    }
    arguments |= {
        "scan": scan,
        "limit": limit + 1,
        "kind": filters.kind,
        "since": filters.since,
        "until": filters.until,
    }
    with connection.cursor() as cursor:
        cursor.execute(_PAGE, arguments)
        rows = cursor.fetchall()
    lines = [_line(row) for row in rows if row[-1]]
    if len(lines) > limit:
        return StatementPage(lines[:limit], lines[limit - 1].cursor)
    is_cut = (
        bool(rows)
        and rows[-1][-2] == scan
        and (filters.since is None or rows[-1][1] + DISORDER >= filters.since)
    )
    return StatementPage(lines, _line(rows[-1]).cursor if is_cut else None)


def statement(
    account_id: int, *, before: str | None = None, limit: int = 25
) -> list[StatementLine]:
    """The lines of a page of everything."""
    return page(account_id, before=before, limit=limit).lines


def _line(row: tuple[Any, ...]) -> StatementLine:
    entry_id, at, kind, role, reference, amount, balance = row[:7]
    cursor = f"{entry_id}.{int(balance) - int(amount)}"
    return StatementLine(entry_id, at, kind, role, reference, int(amount), int(balance), cursor)


def _place(cursor: str) -> _PageBoundary:
    parts = _CURSOR.fullmatch(cursor)
    if parts is None:
        raise ValueError("no cursor of a statement")
    entry_id, balance = parts.groups()
    if int(entry_id) > _LAST_ID:
        raise ValueError("no cursor of a statement")
    return _PageBoundary(int(entry_id), int(balance))


_ENDS = "SELECT min(id), max(id) FROM ledger_entry WHERE account_id = %s"
_PROBE = """
SELECT m.at FROM ledger_entry e JOIN ledger_movement m ON m.id = e.movement_id
WHERE e.account_id = %s AND e.id >= %s ORDER BY e.id LIMIT 1
"""
_BALANCE_BEFORE = f"SELECT {BALANCE_BEFORE.format(account='%(account)s')}"


def _newest(account_id: int, until: datetime | None) -> _PageBoundary:
    """Start of a statement: the newest entry or, by bisection over IDs, the last before a
    moment."""
    if until is None:
        return _PageBoundary(_LAST_ID, None)
    with connection.cursor() as cursor:
        cursor.execute(_ENDS, [account_id])
        first, last = cursor.fetchone()
        if first is None:
            return _PageBoundary(_LAST_ID, None)
        low, high = first, last + 1
        while low < high:
            middle = (low + high) // 2
            cursor.execute(_PROBE, [account_id, middle])
            row = cursor.fetchone()
            low, high = (
                (low, middle) if row is None or row[0] >= until + DISORDER else (middle + 1, high)
            )
        cursor.execute(_BALANCE_BEFORE, {"account": account_id, "id": low})
        return _PageBoundary(low, int(cursor.fetchone()[0]))


# Every account's own newest entries before a place, each with the balance it left, as one list.
_MERGED = f"""
WITH told AS (
    SELECT asked.account AS account_id, t.*
        FROM unnest(%(accounts)s::bigint[]) AS asked (account), LATERAL (
        SELECT s.id, m.at, m.kind, s.role, m.reference, s.amount_atomic, start.balance
                   + s.amount_atomic - sum(s.amount_atomic) OVER newest AS balance,
               row_number() OVER newest AS number
        FROM (
            SELECT {BALANCE_BEFORE.format(account="asked.account")} AS balance
        ) start, (
            SELECT e.id, e.movement_id, e.amount_atomic, e.role FROM ledger_entry e
            WHERE e.account_id = asked.account AND e.id < %(id)s
            ORDER BY e.id DESC LIMIT %(scan)s
        ) s JOIN ledger_movement m ON m.id = s.movement_id
            WINDOW newest AS (ORDER BY s.id DESC)
    ) t
)
SELECT id, at, kind, role, reference, amount_atomic, balance, account_id,
    number = %(scan)s, is_wanted FROM (
    SELECT *, (%(kind)s = '' OR kind = %(kind)s)
        AND (%(since)s::timestamptz IS NULL OR at >= %(since)s)
              AND (%(until)s::timestamptz IS NULL OR at < %(until)s) AS is_wanted
    FROM told
) every WHERE is_wanted OR number = %(scan)s ORDER BY every.id DESC LIMIT %(limit)s
"""  # noqa: S608  # our own text
_MERGED_CURSOR = re.compile(r"[0-9]{1,19}", re.ASCII)
ACCOUNTS_MAX = 100


def merged(
    account_ids: Sequence[int],
    *,
    before: str | None = None,
    filters: LineFilter = LineFilter(),
    limit: int = 25,
) -> StatementPage:
    """A page of several accounts' entries as one list, each with the balance that it left its own.
    Raises ValueError as `page` does.

    What is looked through is shared among the accounts. A page's cursor is a place alone: what is
    newer is added up by the index.
    """
    limit = max(1, min(limit, PAGE_MAX))
    ids = list(account_ids)[:ACCOUNTS_MAX]
    most = limit + 1 if filters == LineFilter() else max(limit + 1, SCAN_MAX // max(1, len(ids)))
    place = _merged_place(before) if before is not None else _newest_of(ids, filters.until)
    page_reached = StatementPage([], None)
    # Most pages are full of what is nearest: only those that aren't look further.
    for scan in (*(limit * times for times in SCANS if limit * times < most), most):
        page_reached = _merged_page(ids, place, filters, limit, scan)
        if len(page_reached.lines) == limit or page_reached.older is None:
            break
    return page_reached


def _merged_page(
    ids: Sequence[int], entry_id: int, filters: LineFilter, limit: int, scan: int
) -> StatementPage:
    """A page of what is found in as many entries of each account before a place."""
    arguments: Arguments = {
        "accounts": array(ids),
        "id": entry_id,
        "scan": scan,
        "limit": limit + 1 + len(ids),
    }
    arguments |= {"kind": filters.kind, "since": filters.since, "until": filters.until}
    with connection.cursor() as cursor:
        cursor.execute(_MERGED, arguments)
        rows = cursor.fetchall()
    # Beyond the newest place at which an account was looked through no further, another's entries
    # would be without its own.
    end = next((number for number, row in enumerate(rows) if row[-2]), None)
    reached = rows if end is None else rows[: end + 1]
    lines = [_merged_line(row) for row in reached if row[-1]]
    if len(lines) > limit:
        return StatementPage(lines[:limit], lines[limit - 1].cursor)
    is_cut = end is not None and (filters.since is None or rows[end][1] + DISORDER >= filters.since)
    return StatementPage(lines, _merged_line(reached[-1]).cursor if is_cut else None)


def _merged_line(row: tuple[Any, ...]) -> StatementLine:
    entry_id, at, kind, role, reference, amount, balance, account_id = row[:8]
    return StatementLine(
        entry_id,
        at,
        kind,
        role,
        reference,
        int(amount),
        int(balance),
        str(entry_id),
        account_id,
    )


def _merged_place(cursor: str) -> int:
    if _MERGED_CURSOR.fullmatch(cursor) is None or int(cursor) > _LAST_ID:
        raise ValueError("no cursor of a statement")
    return int(cursor)


_ENDS_OF = """
SELECT min(first), max(last) FROM unnest(%s::bigint[]) AS asked (account), LATERAL (
    SELECT min(id) AS first, max(id) AS last FROM ledger_entry
        WHERE account_id = asked.account) ends
"""
_PROBE_OF = """
SELECT m.at FROM unnest(%s::bigint[]) AS asked (account), LATERAL (
    SELECT id, movement_id FROM ledger_entry WHERE account_id = asked.account
        AND id >= %s ORDER BY id LIMIT 1
) e JOIN ledger_movement m ON m.id = e.movement_id ORDER BY e.id LIMIT 1
"""


def _newest_of(account_ids: Sequence[int], until: datetime | None) -> int:
    """The place at which all of them begin together, found as for one."""
    if until is None:
        return _LAST_ID
    accounts = array(account_ids)
    with connection.cursor() as cursor:
        cursor.execute(_ENDS_OF, [accounts])
        first, last = cursor.fetchone()
        if first is None:
            return _LAST_ID
        low, high = first, last + 1
        while low < high:
            middle = (low + high) // 2
            cursor.execute(_PROBE_OF, [accounts, middle])
            row = cursor.fetchone()
            low, high = (
                (low, middle) if row is None or row[0] >= until + DISORDER else (middle + 1, high)
            )
    return int(low)
