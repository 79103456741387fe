"""The trial balance: what each kind of account has on its side, by mode and asset. Debits and credits are the same, or the books are wrong.

An account's balance is its folded checkpoint and the entries since. The statement ends after some seconds, whatever it would have to add.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from django.db import connection, transaction
from django.db.utils import OperationalError

from apps.core import clock, money
from apps.ledger.chart import CHART

SECONDS_MAX = 8
_BY_KIND = """
SELECT a.mode, a.asset_id, s.coin_symbol, s.atomic_decimals, a.kind, count(*),
       coalesce(-sum(b.amount) FILTER (WHERE b.amount < 0), 0), coalesce(sum(b.amount) FILTER (WHERE b.amount > 0), 0)
FROM ledger_account a JOIN assets_asset s ON s.id = a.asset_id CROSS JOIN LATERAL (SELECT ledger_balance(a.id) AS amount) b
GROUP BY a.mode, a.asset_id, s.coin_symbol, s.atomic_decimals, s.position, a.kind
ORDER BY a.mode, s.position, a.asset_id, a.kind
"""
_LIMIT = "SELECT set_config('statement_timeout', %s, true)"


class _Row(NamedTuple):
    mode: str
    asset_id: str
    symbol: str
    decimals: int
    kind: str
    accounts: int
    debit_atomic: int
    credit_atomic: int


@dataclass(frozen=True)
class Line:
    """One kind of account. A side without a balance is empty."""

    name: str
    meaning: str
    accounts: int
    debit: str
    credit: str


@dataclass(frozen=True)
class Sheet:
    """One asset in one mode; `off` is what its sides differ by, empty when they are the same."""

    mode: str
    asset_id: str
    symbol: str
    lines: list[Line]
    debit: str
    credit: str
    off: str


@dataclass(frozen=True)
class TrialBalance:
    """`is_whole` is False when it took too long."""

    at: datetime
    sheets: list[Sheet]
    is_whole: bool = True

    @property
    def is_balanced(self) -> bool:
        return all(not sheet.off for sheet in self.sheets)


def now() -> TrialBalance:
    at = clock.real_now()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('statement_timeout')")
            [before] = cursor.fetchone()
            cursor.execute(_LIMIT, [f"{SECONDS_MAX}s"])
            cursor.execute(_BY_KIND)
            rows = [_Row._make((*row[:6], int(row[6]), int(row[7]))) for row in cursor.fetchall()]
            cursor.execute(_LIMIT, [before])
    except OperationalError:  # the time was over
        return TrialBalance(at, [], is_whole=False)
    return TrialBalance(at, [_sheet(list(some)) for _, some in groupby(rows, key=lambda row: (row.mode, row.asset_id))])


def _sheet(rows: list[_Row]) -> Sheet:
    first = rows[0]
    debit, credit = sum(row.debit_atomic for row in rows), sum(row.credit_atomic for row in rows)
    lines = [
        Line(
            row.kind.replace("_", " ").capitalize(),
            CHART[row.kind].meaning,
            row.accounts,
            _coins(row.debit_atomic, row.decimals),
            _coins(row.credit_atomic, row.decimals),
        )
        for row in _in_order(rows)
    ]
    totals = (_coins(debit, first.decimals) or "0", _coins(credit, first.decimals) or "0", _coins(abs(debit - credit), first.decimals))
    return Sheet(first.mode, first.asset_id, first.symbol, lines, *totals)


def _in_order(rows: Iterable[_Row]) -> list[_Row]:
    """Of the chart."""
    chart = list(CHART)
    return sorted(rows, key=lambda row: chart.index(row.kind))


def _coins(atomic: int, decimals: int) -> str:
    return money.decimal_from_atomic(atomic, decimals) if atomic else ""
