"""What entries of a store were worth when they were booked, which fee was taken with them, and sums
over a range of them.

The rate is the one that was locked for a payment, else the newest first rate of a day up to theirs:
the same that reports use.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from apps.core import money
from apps.core.db.sql import array
from apps.core.money import Fiat
from apps.ledger.statements import LineFilter
from apps.reports.selectors import CURRENCY, RATES

Arguments = dict[str, str | int | uuid.UUID | datetime | None]
# Of each account so many entries are added up, the newest ones.
SUMMED_MAX = 10_000

_FEE = """
LEFT JOIN LATERAL (
    SELECT coalesce(sum(f.amount_atomic), 0) AS atomic FROM ledger_entry f
    WHERE e.role = 'net' AND f.movement_id = m.id AND f.asset_id = e.asset_id
        AND f.role IN ('service_fee', 'platform_fee')
) fee ON {condition}
"""


@dataclass(frozen=True)
class EntryValue:
    """`fee_atomic` was taken before the amount of the entry; `rate` is None where nobody knows what
    a coin was worth."""

    currency: str
    rate: Decimal | None
    rate_source: str
    fee_atomic: int
    atomic_decimals: int

    def worth(self, amount_atomic: int) -> Fiat | None:
        """Half-even to the cent."""
        if self.rate is None:
            return None
        return Fiat(
            money.cents_for_atomic(amount_atomic, self.rate, self.atomic_decimals), self.currency
        )


_BOOKINGS = f"""
SELECT e.id, currency.code, coalesce(k.exchange_rate, d.rate),
    coalesce(k.rate_source, d.source, ''), coalesce(fee.atomic, 0),
       s.atomic_decimals
FROM ledger_entry e
JOIN ledger_account a ON a.id = e.account_id AND a.store_id = %(store)s AND a.mode = %(mode)s
JOIN ledger_movement m ON m.id = e.movement_id
JOIN assets_asset s ON s.id = e.asset_id
LEFT JOIN payments_payment p ON p.id = m.reference
{CURRENCY} {RATES.format(condition="true")} {_FEE.format(condition="true")}
WHERE e.id = ANY (%(entries)s::bigint[])
"""  # noqa: S608  # only fragments of ours are put in


def bookings_of(
    store_id: uuid.UUID, mode: str, currency: str, entry_ids: Iterable[int]
) -> dict[int, EntryValue]:
    """By entry, of the store's own alone. What serves no payment is valued in `currency`. One
    question for all."""
    entries = array(entry_ids)
    arguments: Arguments = {
        "store": store_id,
        "mode": mode,
        "store_currency": currency,
        "entries": entries,
    }
    with connection.cursor() as cursor:
        cursor.execute(_BOOKINGS, arguments)
        return {
            entry: EntryValue(code, rate, source, int(fee), decimals)
            for entry, code, rate, source, fee, decimals in cursor.fetchall()
        }


@dataclass
class BookingSums:
    """A coin in a range: what was there, came in, went out, and is there; what of it is valued, by
    currency, in cents.

    `is_whole` is False when the account has more entries than are added up; then there are no
    balances. `valued` is None for a currency of which an entry has no known rate.
    """

    asset_id: str
    atomic_decimals: int
    entries: int = 0
    in_atomic: int = 0
    out_atomic: int = 0
    fee_atomic: int = 0
    opening_atomic: int = 0
    closing_atomic: int = 0
    is_whole: bool = True
    worth: dict[str, int] = field(default_factory=dict)
    fees_worth: dict[str, int] = field(default_factory=dict)
    unvalued: int = 0

    @property
    def net_atomic(self) -> int:
        return self.in_atomic + self.out_atomic


def _half_even(amount: str) -> str:
    """Cents of an amount at the entry's rate as money.cents_for_atomic rounds them, exactly: no
    numeric is divided."""
    exact = (
        f"(abs({amount}) * coalesce(k.exchange_rate, d.rate) * ('1e' || (2 -"
        " s.atomic_decimals))::numeric)"
    )
    even = f"mod(floor({exact}), 2) = 0 AND {exact} - floor({exact}) = 0.5"
    return f"(sign({amount}) * CASE WHEN {even} THEN floor({exact}) ELSE round({exact}) END)"


_SUMS = f"""
WITH scanned AS (
    SELECT a.asset_id, ledger_balance(a.id) AS balance, e.id, e.movement_id, e.amount_atomic, e.role
    FROM ledger_account a
    CROSS JOIN LATERAL (
        SELECT o.id, o.movement_id, o.amount_atomic, o.role FROM ledger_entry o
        WHERE o.account_id = a.id ORDER BY o.id DESC LIMIT %(scan)s
    ) e
    WHERE a.store_id = %(store)s AND a.mode = %(mode)s AND a.kind = %(account)s
), e AS (
    SELECT c.*, (%(since)s::timestamptz IS NULL OR m.at >= %(since)s) AS is_since,
           (%(until)s::timestamptz IS NULL OR m.at < %(until)s) AS is_until, (%(kind)s = ''
               OR m.kind = %(kind)s) AS is_kind
    FROM scanned c JOIN ledger_movement m ON m.id = c.movement_id
)
SELECT e.asset_id, s.atomic_decimals, min(e.balance), currency.code, count(*),
    bool_or(NOT is_since),
       count(*) FILTER (WHERE is_since AND is_until AND is_kind),
       coalesce(sum(e.amount_atomic)
           FILTER (WHERE is_since AND is_until AND is_kind AND e.amount_atomic > 0), 0),
       coalesce(sum(e.amount_atomic)
           FILTER (WHERE is_since AND is_until AND is_kind AND e.amount_atomic < 0), 0),
       coalesce(sum(fee.atomic), 0),
       coalesce(sum(e.amount_atomic) FILTER (WHERE NOT is_until), 0),
       coalesce(sum(e.amount_atomic) FILTER (WHERE is_since AND is_until), 0),
       coalesce(sum({_half_even("e.amount_atomic")}), 0),
       coalesce(sum({_half_even("fee.atomic")}), 0),
       count(*) FILTER (WHERE is_since AND is_until AND is_kind
           AND coalesce(k.exchange_rate, d.rate) IS NULL)
FROM e
JOIN ledger_movement m ON m.id = e.movement_id
JOIN assets_asset s ON s.id = e.asset_id
LEFT JOIN payments_payment p ON p.id = m.reference AND is_since AND is_until AND is_kind
{CURRENCY} {RATES.format(condition="is_since AND is_until AND is_kind")}
{_FEE.format(condition="is_since AND is_until AND is_kind")}
GROUP BY e.asset_id, s.atomic_decimals, s.position, currency.code
    ORDER BY s.position, e.asset_id, currency.code
"""  # noqa: S608  # only fragments of ours are put in


def sums_of(
    store_id: uuid.UUID,
    mode: str,
    currency: str,
    account: str,
    criteria: LineFilter,
    *,
    scan: int | None = None,
) -> list[BookingSums]:
    """Of every coin that the store has such an account of, in the order of the assets. One
    question; of each account SUMMED_MAX entries are added up, or `scan`."""
    scan = scan or SUMMED_MAX
    arguments: Arguments = {"store": store_id, "mode": mode, "store_currency": currency}
    arguments |= {"account": account, "scan": scan}
    arguments |= {"kind": criteria.kind, "since": criteria.since, "until": criteria.until}
    by_asset: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, arguments)
        for row in cursor.fetchall():
            by_asset[row[0]].append(row[1:])
    return [_sums(asset_id, rows, scan) for asset_id, rows in by_asset.items()]


def _sums(asset_id: str, rows: list[tuple[Any, ...]], scan: int) -> BookingSums:
    """The rows of a coin, one a currency."""
    sums = BookingSums(asset_id, rows[0][0])
    balance = int(rows[0][1])
    scanned = 0
    after = 0
    within = 0
    reaches_back = False
    for (
        _,
        _,
        code,
        count,
        is_before,
        entries,
        came,
        went,
        fee,
        later,
        moved,
        cents,
        fee_cents,
        unvalued,
    ) in rows:
        scanned = scanned + count
        after = after + int(later)
        within = within + int(moved)
        reaches_back = reaches_back or is_before
        sums.entries += entries
        sums.in_atomic += int(came)
        sums.out_atomic += int(went)
        sums.fee_atomic += int(fee)
        sums.unvalued += unvalued
        if entries:
            sums.worth[code] = int(cents)
            sums.fees_worth[code] = int(fee_cents)
    sums.closing_atomic = balance - after
    sums.opening_atomic = sums.closing_atomic - within
    sums.is_whole = scanned < scan or reaches_back
    return sums
