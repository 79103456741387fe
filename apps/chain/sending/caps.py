"""Caps per store and asset before a person reviews: of one transaction, and in 24 hours.

The day's room is the configured one or what came in for the store meanwhile. What goes back to who
paid it needs none, and no refund is more than its payment has brought: the watcher's deposits, in
canonical blocks. The room of all stores together only raises an alarm (chain.outflow).
"""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings

from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import attempts
from apps.chain.sending.reservations import ACCOUNT_STORE
from apps.chain.states import STAYS_OURS, TAKES_NO_TOKENS
from apps.core.db.sql import Statement, array
from apps.core.money import atomic_from_decimal

DAY = timedelta(days=1)
_Purpose = OutgoingTransaction.Purpose
_NEVER_CAPPED = (_Purpose.X402, _Purpose.JOIN, _Purpose.COLD, _Purpose.SWEEP_BATCH)
_UNCOUNTED = (*TAKES_NO_TOKENS, *STAYS_OURS)
_SIGNED = Statement("""
SELECT store_id, asset_id, sum(amount_atomic) FROM chain_outgoingtransaction
WHERE asset_id = ANY (%(assets)s::text[])
    AND (store_id = ANY (%(stores)s::uuid[]) OR store_id IS NULL)
  AND signed_at > %(since)s AND status <> 'failed' AND NOT goes_back
      AND purpose <> ALL (%(uncounted)s::text[])
GROUP BY store_id, asset_id
""")
# A deposit that is in a block, as the watcher has written both. `booked` is the movement that
# has taken it into custody: only the books know for whom.
_STANDS = """
JOIN chain_deposit d ON d.id = split_part(booked.key, ':', 2)::uuid AND d.status = 'confirmed'
    AND NOT d.is_simulated AND NOT d.is_lost
JOIN chain_block k ON k.chain_id = d.chain_id AND k.number = d.block_number
    AND k.hash = d.block_hash AND k.is_canonical
"""
# Of each refund: what its payment has brought, and of that what came from the refund's recipient;
# then what was refunded of it before, and of that what went back to that recipient. What staff have
# corrected for a payment it has brought as well, from nobody.
_BROUGHT = Statement(f"""
SELECT asked.id, refunded.reference,
       coalesce(brought.amount, 0) + coalesce(corrected.amount, 0), coalesce(brought.theirs, 0),
       coalesce(gone.amount, 0), coalesce(gone.theirs, 0)
FROM unnest(%(ids)s::uuid[], %(subjects)s::text[], %(stores)s::text[], %(assets)s::text[],
    %(addresses)s::text[]) AS asked (id, subject, store, asset, address)
JOIN ledger_movement refunded ON refunded.key = 'refund:' || asked.subject,
LATERAL (SELECT sum(d.amount_atomic) AS amount,
        sum(d.amount_atomic) FILTER (WHERE d.from_address = asked.address) AS theirs
    FROM ledger_movement booked {_STANDS}
    WHERE booked.reference = refunded.reference AND booked.kind = 'deposit_confirmed'
        AND d.asset_id = asked.asset
        AND EXISTS (SELECT 1 FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
            WHERE e.movement_id = booked.id AND a.kind = 'held'
                AND {ACCOUNT_STORE} = nullif(asked.store, '')::uuid AND a.asset_id = asked.asset)
) AS brought,
LATERAL (SELECT sum(e.amount_atomic) AS amount
    FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
    JOIN ledger_account a ON a.id = e.account_id
    WHERE m.reference = refunded.reference AND m.kind = 'correction' AND a.kind = 'held'
        AND {ACCOUNT_STORE} = nullif(asked.store, '')::uuid AND a.asset_id = asked.asset
) AS corrected,
LATERAL (SELECT sum(o.amount_atomic) AS amount,
        sum(o.amount_atomic) FILTER (WHERE o.goes_back AND o.to_address = asked.address) AS theirs
    FROM ledger_movement m JOIN chain_outgoingtransaction o ON o.purpose = 'refund'
        AND o.reference = ANY ({attempts.references_sql("split_part(m.key, ':', 2)")})
    WHERE m.reference = refunded.reference
        AND m.kind IN ('refund_created', 'transfer_return_created')
        AND o.asset_id = asked.asset AND o.status <> 'failed' AND o.signed_at IS NOT NULL
        AND o.id <> asked.id
) AS gone
""")  # noqa: S608  # no input in it
# The books are asked by SQL: chain and ledger don't know each other's code. What a movement left a
# store with came in: a deposit, its part of a payment, what a swap brought. In live mode a deposit
# is behind it, of the window too and at least as large. What swaps brought is what the worker
# says, and counts up to the configured room of the day. Entries are counted from the first of the
# window on, as their index has them.
_CAME_IN = Statement(f"""
SELECT coalesce(sum(movement.came) FILTER (WHERE movement.kind <> ALL (%(swaps)s::text[])), 0),
    coalesce(sum(movement.came) FILTER (WHERE movement.kind = ANY (%(swaps)s::text[])), 0) FROM (
    SELECT m.id, m.kind, m.mode, m.reference, sum(e.amount_atomic) AS came FROM ledger_account a
        JOIN ledger_entry e ON e.account_id = a.id
        AND e.id >= %(from_id)s
    JOIN ledger_movement m ON m.id = e.movement_id AND m.at > %(since)s
        AND m.kind = ANY (%(kinds)s::text[])
    WHERE a.store_id = %(store)s AND a.asset_id = %(asset)s GROUP BY m.id
) AS movement
WHERE movement.came > 0 AND (movement.mode = 'test' OR movement.kind = ANY (%(swaps)s::text[])
    OR movement.came <= (SELECT sum(d.amount_atomic) FROM ledger_movement booked {_STANDS}
        WHERE booked.reference = movement.reference AND booked.kind = 'deposit_confirmed'
            AND (booked.id = movement.id OR movement.kind <> 'deposit_confirmed')
            AND d.asset_id = %(asset)s AND d.detected_at > %(since)s))
""")  # noqa: S608  # no input in it
_SWAPS = ("swap_completed", "swap_exchanged")
INFLOWS = (
    "deposit_confirmed",
    "payment_settled",
    "overpayment_settled",
    "late_deposit_accepted",
    *_SWAPS,
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
    """Remaining amount of each store in a batch. Made under the wallet's lock, so that nothing is
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
        self._payments = _rooms([row for row in rows if row.purpose == _Purpose.REFUND])
        self._refunds: dict[tuple[uuid.UUID, str], int] = defaultdict(int)
        self._returns: dict[tuple[uuid.UUID, str, str], int] = defaultdict(int)

    def refusal(self, row: OutgoingTransaction) -> Reason | None:
        """Why a person should look first; None when there is room, which is then taken."""
        if row.purpose == _Purpose.REFUND and not self._is_of_what_came(row):
            return Reason.ABOVE_PAID
        row.goes_back = self._takes_back(row)
        if row.purpose in _NEVER_CAPPED or row.goes_back:
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

    def _is_of_what_came(self, row: OutgoingTransaction) -> bool:
        """Tell whether its payment has brought this much, besides what was refunded of it."""
        payment = self._payments.get(row.pk)
        if payment is None:
            return False
        before = payment.refunded_atomic + self._refunds[payment.payment_id, row.asset_id]
        return before + row.amount_atomic <= payment.amount_atomic

    def _takes_back(self, row: OutgoingTransaction) -> bool:
        """Tell whether it goes to who has paid that much for its payment; a refund counts as made
        from then on."""
        payment = self._payments.get(row.pk)
        if payment is None:
            return False
        self._refunds[payment.payment_id, row.asset_id] += row.amount_atomic
        place = payment.payment_id, row.asset_id, row.to_address
        rest = payment.theirs_atomic - payment.returned_atomic - self._returns[place]
        if rest < row.amount_atomic:
            return False
        self._returns[place] += row.amount_atomic
        return True

    def _inflow(self, row: OutgoingTransaction) -> int:
        """Inflow that allows an outflow. Only asked for beyond the configured room."""
        if row.store_id is None:
            return 0
        place = row.store_id, row.asset_id
        if place not in self._came_in:
            arguments = {
                "store": row.store_id,
                "asset": row.asset_id,
                "since": self._since,
                "kinds": array(INFLOWS),
                "swaps": array(_SWAPS),
            }
            ((came, swapped),) = _CAME_IN.rows(
                from_id=_first_entry(self._since) if row.mode == "live" else 0, **arguments
            )
            inflow = int(came) + min(int(swapped), caps(row.asset)[1])
            self._came_in[place] = inflow * settings.SIGNER_INFLOW_PERCENT // 100
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


class RefundRoom(NamedTuple):
    """Of the payment that a refund is of, in atomic units of the refund's asset: what it has
    brought, what of that came from the refund's recipient, and what of both was refunded before."""

    payment_id: uuid.UUID
    amount_atomic: int
    theirs_atomic: int
    refunded_atomic: int
    returned_atomic: int


def _rooms(refunds: Sequence[OutgoingTransaction]) -> dict[uuid.UUID, RefundRoom]:
    """By the refund's id; one that the books don't know is missing."""
    if not refunds:
        return {}
    arguments = {
        "ids": array(row.pk for row in refunds),
        "subjects": array(attempts.subject_of(row.reference) for row in refunds),
        "stores": array(row.store_id or "" for row in refunds),
        "assets": array(row.asset_id for row in refunds),
        "addresses": array(row.to_address for row in refunds),
    }
    return {
        pk: RefundRoom(payment_id, *map(int, amounts))
        for pk, payment_id, *amounts in _BROUGHT.rows(**arguments)
    }


def caps(asset: Asset) -> tuple[int, int]:
    """The most of an asset in one transaction and in 24 hours, in atomic units; what has no line
    has no room."""
    once, daily = _line(settings.SIGNER_CAPS, asset).partition(":")[::2]
    return atomic_from_decimal(once, asset.atomic_decimals) or 0, atomic_from_decimal(
        daily or once, asset.atomic_decimals
    ) or 0


def alarm(asset: Asset) -> int | None:
    """Amount of an asset that may leave in 24 hours for all stores together before an alarm; None
    without a line."""
    line = _line(settings.SIGNER_ALARMS, asset)
    return atomic_from_decimal(line, asset.atomic_decimals) if line else None


def _line(lines: Sequence[str], asset: Asset) -> str:
    return next(
        (amount for name, _, amount in (line.partition("=") for line in lines) if name == asset.pk),
        "",
    )
