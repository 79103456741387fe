"""How much of an asset leaves for one store before a person looks: in one transaction, and in 24
hours.

The day's room is the configured one or, when more came in for the store meanwhile, that: nobody
uses up another's. What goes back to the address that paid it in needs no room. The room of all
stores together only raises an alarm (chain.outflow).
"""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings

from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.states import STAYS_OURS, TAKES_NO_TOKENS
from apps.core.db.sql import Statement, array
from apps.core.money import atomic_from_decimal

DAY = timedelta(days=1)
_Purpose = OutgoingTransaction.Purpose
_UNCOUNTED = (*TAKES_NO_TOKENS, *STAYS_OURS)
_SIGNED = Statement("""
SELECT store_id, asset_id, sum(amount_atomic) FROM chain_outgoingtransaction
WHERE asset_id = ANY (%(assets)s::text[])
    AND (store_id = ANY (%(stores)s::uuid[]) OR store_id IS NULL)
  AND signed_at > %(since)s AND status <> 'failed' AND NOT goes_back
      AND purpose <> ALL (%(uncounted)s::text[])
GROUP BY store_id, asset_id
""")
# What an address has paid in of an asset, less what went back to it.
_PAID_IN = Statement("""
SELECT p.address, p.asset_id,
       coalesce((SELECT sum(d.amount_atomic) FROM chain_deposit d WHERE d.from_address = p.address
           AND d.asset_id = p.asset_id
                 AND d.status = 'confirmed' AND NOT d.is_simulated AND NOT d.is_lost), 0)
       - coalesce((SELECT sum(o.amount_atomic) FROM chain_outgoingtransaction o
                   WHERE o.goes_back AND o.to_address = p.address AND o.asset_id = p.asset_id
                       AND o.status <> 'failed'), 0)
FROM (SELECT DISTINCT *
    FROM unnest(%(addresses)s::text[], %(assets)s::text[])) AS p (address, asset_id)
""")
# The books are asked by SQL: chain and ledger don't know each other's code. What a movement left a
# store with came in: a deposit, its part of a payment, what a swap brought. Entries are counted
# from the first of the window on, as their index has them.
_CAME_IN = Statement("""
SELECT coalesce(sum(greatest(came, 0)), 0) FROM (
    SELECT sum(e.amount_atomic) AS came FROM ledger_account a
        JOIN ledger_entry e ON e.account_id = a.id
        AND e.id >= %(from_id)s
    JOIN ledger_movement m ON m.id = e.movement_id AND m.at > %(since)s
        AND m.kind = ANY (%(kinds)s::text[])
    WHERE a.store_id = %(store)s AND a.asset_id = %(asset)s GROUP BY e.movement_id
) AS movement
""")
INFLOWS = (
    "deposit_confirmed",
    "payment_settled",
    "overpayment_settled",
    "late_deposit_accepted",
    "swap_completed",
    "swap_exchanged",
)
_BEGAN = Statement("""
SELECT m.id, m.at, (SELECT min(e.id) FROM ledger_entry e WHERE e.movement_id = m.id)
    FROM ledger_movement m
WHERE m.id >= %(id)s AND m.mode = 'live' ORDER BY m.id LIMIT 1
""")
_LAST = Statement("SELECT coalesce(max(id), 0) FROM ledger_movement")
# Movements are written in the order of their time, give or take what a long transaction may be
# late.
_SLACK = timedelta(hours=1)


class Headroom:
    """What each store may still send in a batch. Made under the wallet's lock, so that nothing is
    signed between."""

    def __init__(self, rows: Sequence[OutgoingTransaction], at: datetime) -> None:
        self._since = at - DAY
        stores = {row.store_id for row in rows if row.store_id is not None}
        arguments = {
            "stores": array(stores),
            "assets": array({row.asset_id for row in rows}),
            "uncounted": array(_UNCOUNTED),
        }
        self._signed: dict[tuple[uuid.UUID | None, str], int] = defaultdict(int)
        for store_id, asset_id, amount in _SIGNED.rows(since=self._since, **arguments):
            self._signed[store_id, asset_id] = int(amount)
        self._came_in: dict[tuple[uuid.UUID, str], int] = {}
        self._paid_in = _paid_in([row for row in rows if row.purpose == _Purpose.REFUND])

    def refusal(self, row: OutgoingTransaction) -> Reason | None:
        """Why a person should look first; None when there is room, which is then taken."""
        row.goes_back = self._takes_back(row)
        if row.purpose in (_Purpose.X402, _Purpose.COLD) or row.goes_back:
            return None
        most, most_a_day = caps(row.asset)
        if row.amount_atomic > most:
            return Reason.ABOVE_ONE
        if row.purpose in _UNCOUNTED:
            return None  # what an approval lets go is counted when it goes
        total = self._signed[row.store_id, row.asset_id] + row.amount_atomic
        if total > most_a_day and total > self._inflow(row):
            return Reason.ABOVE_DAY
        self._signed[row.store_id, row.asset_id] = total
        return None

    def _takes_back(self, row: OutgoingTransaction) -> bool:
        place = row.to_address, row.asset_id
        if row.purpose != _Purpose.REFUND or self._paid_in.get(place, 0) < row.amount_atomic:
            return False
        self._paid_in[place] -= row.amount_atomic
        return True

    def _inflow(self, row: OutgoingTransaction) -> int:
        """What may go out because it came in. Only asked for beyond the configured room."""
        if row.store_id is None:
            return 0
        place = row.store_id, row.asset_id
        if place not in self._came_in:
            arguments = {
                "store": row.store_id,
                "asset": row.asset_id,
                "since": self._since,
                "kinds": array(INFLOWS),
            }
            ((came,),) = _CAME_IN.rows(
                from_id=_first_entry(self._since) if row.mode == "live" else 0, **arguments
            )
            self._came_in[place] = int(came) * settings.SIGNER_INFLOW_PERCENT // 100
        return self._came_in[place]


def _first_entry(since: datetime) -> int:
    """The first entry of the window, found by halves; of test mode, whose clocks differ, nobody
    knows."""
    (low, high), first = (0, _LAST.rows()[0][0] + 1), 0
    while low < high:
        middle = (low + high) // 2
        rows = _BEGAN.rows(id=middle)
        if not rows or rows[0][1] >= since - _SLACK:
            high = middle
        else:
            low = rows[0][0] + 1
            first = rows[0][2] or first
    return first


def _paid_in(refunds: Sequence[OutgoingTransaction]) -> dict[tuple[str, str], int]:
    if not refunds:
        return {}
    arguments = {
        "addresses": array(row.to_address for row in refunds),
        "assets": array(row.asset_id for row in refunds),
    }
    return {
        (address, asset_id): int(amount) for address, asset_id, amount in _PAID_IN.rows(**arguments)
    }


def caps(asset: Asset) -> tuple[int, int]:
    """The most of an asset in one transaction and in 24 hours, in atomic units; what has no line
    has no room."""
    once, daily = _line(settings.SIGNER_CAPS, asset).partition(":")[::2]
    return atomic_from_decimal(once, asset.atomic_decimals) or 0, atomic_from_decimal(
        daily or once, asset.atomic_decimals
    ) or 0


def alarm(asset: Asset) -> int | None:
    """How much of an asset may leave in 24 hours for all stores together before somebody is called;
    None without a line."""
    line = _line(settings.SIGNER_ALARMS, asset)
    return atomic_from_decimal(line, asset.atomic_decimals) if line else None


def _line(lines: Sequence[str], asset: Asset) -> str:
    return next(
        (amount for name, _, amount in (line.partition("=") for line in lines) if name == asset.pk),
        "",
    )
