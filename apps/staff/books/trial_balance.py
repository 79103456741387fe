"""The trial balance: what each kind of account has on its side, by mode and asset. Debits and
credits are the same, or the books are wrong.

An account's balance is its folded checkpoint and the entries since; as of the last seal of the
audit log, without what was booked after it. The statement ends after some seconds, whatever it
would have to add.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from django.contrib.admin import AdminSite
from django.db import connection, transaction
from django.db.utils import OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from apps.assets.selectors import with_chains
from apps.core import clock, money
from apps.core.text.words import code_words
from apps.ledger.chart import CHART
from apps.stores.auditing import seals

SECONDS_MAX = 8
_BY_KIND = """
SELECT a.mode, a.asset_id, s.coin_symbol, s.atomic_decimals, a.kind, count(*),
       coalesce(-sum(b.amount) FILTER (WHERE b.amount < 0), 0), coalesce(sum(b.amount)
           FILTER (WHERE b.amount > 0), 0)
FROM ledger_account a JOIN assets_asset s ON s.id = a.asset_id CROSS
    JOIN LATERAL (SELECT ledger_balance(a.id) AS amount) b
GROUP BY a.mode, a.asset_id, s.coin_symbol, s.atomic_decimals, s.position, a.kind
ORDER BY a.mode, s.position, a.asset_id, a.kind
"""
# The same without what was booked after a moment. Movements are looked through from the newest back
# to a little before it: one is committed soon after its time. Live mode alone, because the time of
# a test movement is what a test clock says.
_BY_KIND_AT = """
WITH start AS (
    SELECT coalesce((SELECT id FROM ledger_movement WHERE mode = 'live'
        AND at <= %(at)s - interval '15 minutes'
                     ORDER BY id DESC LIMIT 1), 0) AS id
), later AS (
    SELECT e.account_id, sum(e.amount_atomic) AS amount FROM ledger_movement m
        JOIN ledger_entry e ON e.movement_id = m.id
    WHERE m.id > (SELECT id FROM start) AND m.mode = 'live' AND m.at > %(at)s GROUP BY e.account_id
)
SELECT a.mode, a.asset_id, s.coin_symbol, s.atomic_decimals, a.kind, count(*),
       coalesce(-sum(b.amount) FILTER (WHERE b.amount < 0), 0), coalesce(sum(b.amount)
           FILTER (WHERE b.amount > 0), 0)
FROM ledger_account a JOIN assets_asset s ON s.id = a.asset_id LEFT
    JOIN later ON later.account_id = a.id
CROSS JOIN LATERAL (SELECT ledger_balance(a.id) - coalesce(later.amount, 0) AS amount) b
WHERE a.mode = 'live'
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
class TrialBalanceLine:
    """A kind of account. A side without a balance is empty."""

    name: str
    meaning: str
    accounts: int
    debit: str
    credit: str


@dataclass(frozen=True)
class Sheet:
    """An asset in one mode; `off` is what its sides differ by, empty when they are the same."""

    mode: str
    asset_id: str
    name: str
    symbol: str
    lines: list[TrialBalanceLine]
    debit: str
    credit: str
    off: str


@dataclass(frozen=True)
class TrialBalance:
    """`is_whole` is False when it took too long."""

    at: datetime
    sheets: list[Sheet]
    is_whole: bool = True
    seal: int | None = None  # the number of the seal that it is as of

    @property
    def is_balanced(self) -> bool:
        return all(not sheet.off for sheet in self.sheets)


def page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """Debits and credits by kind of account, as of now or as of the last seal."""
    is_sealed = request.GET.get("as_of") == "seal"
    table = at_last_seal() if is_sealed else now()
    context = {
        **site.each_context(request),
        "title": "Trial balance",
        "table": table,
        "is_sealed": is_sealed,
    }
    return TemplateResponse(request, "staff/trial_balance.html", context)


def now() -> TrialBalance:
    return _added_up(clock.real_now(), _BY_KIND, {})


def at_last_seal() -> TrialBalance | None:
    """The books of live mode as they were when the audit log was sealed last; None before the first
    seal."""
    sealed = seals.newest()
    if sealed is None:
        return None
    return replace(
        _added_up(sealed.sealed_at, _BY_KIND_AT, {"at": sealed.sealed_at}), seal=sealed.number
    )


def _added_up(at: datetime, statement: str, parameters: dict[str, datetime]) -> TrialBalance:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('statement_timeout')")
            [before] = cursor.fetchone()
            cursor.execute(_LIMIT, [f"{SECONDS_MAX}s"])
            cursor.execute(statement, parameters)
            rows = [_Row._make((*row[:6], int(row[6]), int(row[7]))) for row in cursor.fetchall()]
            cursor.execute(_LIMIT, [before])
    except OperationalError:  # the time was over
        return TrialBalance(at, [], is_whole=False)
    coins = with_chains({row.asset_id for row in rows})
    return TrialBalance(
        at,
        [
            _sheet(list(some), coins[asset_id].full_name)
            for (_, asset_id), some in groupby(rows, key=lambda row: (row.mode, row.asset_id))
        ],
    )


def _sheet(rows: list[_Row], name: str) -> Sheet:
    first = rows[0]
    debit = sum(row.debit_atomic for row in rows)
    credit = sum(row.credit_atomic for row in rows)
    lines = [
        TrialBalanceLine(
            code_words(row.kind),
            CHART[row.kind].meaning,
            row.accounts,
            _coins(row.debit_atomic, row.decimals),
            _coins(row.credit_atomic, row.decimals),
        )
        for row in _in_order(rows)
    ]
    totals = (
        _coins(debit, first.decimals) or "0",
        _coins(credit, first.decimals) or "0",
        _coins(abs(debit - credit), first.decimals),
    )
    return Sheet(first.mode, first.asset_id, name, first.symbol, lines, *totals)


def _in_order(rows: Iterable[_Row]) -> list[_Row]:
    """Of the chart."""
    chart = list(CHART)
    return sorted(rows, key=lambda row: chart.index(row.kind))


def _coins(atomic: int, decimals: int) -> str:
    return money.amount_text(atomic, decimals) if atomic else ""
