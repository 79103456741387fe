"""Reads of the ledger: balances at a cost that doesn't grow with history, and sums over a payment's
entries."""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from apps.core.db.sql import Statement, array
from apps.ledger.keys import DEPOSIT
from apps.ledger.models import Movement


@dataclass(frozen=True)
class Balance:
    """A store's balance of an asset: available, held for unfinished payments, reserved for
    transfers under way."""

    asset_id: str
    available_atomic: int = 0
    held_atomic: int = 0
    reserved_atomic: int = 0

    @property
    def total_atomic(self) -> int:
        return self.available_atomic + self.held_atomic + self.reserved_atomic


_BALANCES = Statement(
    "SELECT asset_id, kind, ledger_balance(id) FROM ledger_account WHERE store_id = %(store_id)s"
    " AND mode = %(mode)s AND kind IN ('available', 'held', 'reserved')"
)


def balances(store_id: uuid.UUID, mode: str) -> dict[str, Balance]:
    """The balances of a store in a mode, by asset."""
    by_asset: dict[str, dict[str, int]] = defaultdict(dict)
    for asset_id, kind, amount in _BALANCES.rows(store_id=store_id, mode=mode):
        by_asset[asset_id][f"{kind}_atomic"] = int(amount)
    return {asset_id: Balance(asset_id, **amounts) for asset_id, amounts in by_asset.items()}


@dataclass(frozen=True)
class OwnBalance:
    """Coins of an asset that came to a merchant's own wallet: of payments not settled, of settled
    ones, and the part of those that is due to the service as fees. What has left the wallet since
    is in them."""

    asset_id: str
    own_pending_atomic: int = 0
    own_received_atomic: int = 0
    own_fees_due_atomic: int = 0

    @property
    def total_atomic(self) -> int:
        return self.own_pending_atomic + self.own_received_atomic + self.own_fees_due_atomic


_OWN_BALANCES = Statement(
    "SELECT asset_id, kind, ledger_balance(id) FROM ledger_account WHERE store_id = %(store_id)s"
    " AND mode = %(mode)s AND kind IN ('own_pending', 'own_received', 'own_fees_due')"
)


def own_balances(store_id: uuid.UUID, mode: str) -> dict[str, OwnBalance]:
    """Receipts of a store's own wallets in a mode, by asset."""
    by_asset: dict[str, dict[str, int]] = defaultdict(dict)
    for asset_id, kind, amount in _OWN_BALANCES.rows(store_id=store_id, mode=mode):
        by_asset[asset_id][f"{kind}_atomic"] = int(amount)
    return {asset_id: OwnBalance(asset_id, **amounts) for asset_id, amounts in by_asset.items()}


_OWN_PENDING = Statement("""
SELECT coalesce(sum(e.amount_atomic), 0)
FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
JOIN ledger_account a ON a.id = e.account_id AND a.kind = 'own_pending'
WHERE m.reference = %(payment)s AND e.asset_id = %(asset)s
""")


def own_pending_of(payment_id: uuid.UUID, asset_id: str) -> int:
    """Amount that came to the merchant's own wallet for a payment and isn't settled."""
    return int(_OWN_PENDING.rows(payment=payment_id, asset=asset_id)[0][0])


_REVERSED = Statement("""
SELECT a.kind, -e.amount_atomic FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
JOIN ledger_account a ON a.id = e.account_id
WHERE m.key = %(key)s AND e.amount_atomic < 0
""")


def taken_by(key: str) -> dict[str, int]:
    """Amounts that a movement took from accounts, by their kind."""
    return {kind: int(amount) for kind, amount in _REVERSED.rows(key=key)}


_COLLECTABLE = Statement("""
SELECT d.id FROM ledger_account d
JOIN ledger_account a ON a.store_id = d.store_id AND a.mode = d.mode AND a.asset_id = d.asset_id
    AND a.kind = 'available'
WHERE d.kind = 'own_fees_due' AND ledger_balance(d.id) > 0 AND ledger_balance(a.id) > 0
    AND NOT EXISTS (SELECT FROM assets_acceptedasset s WHERE s.store_id = d.store_id
        AND s.mode = d.mode AND s.asset_id = d.asset_id AND s.suspended_at IS NOT NULL)
ORDER BY d.id
""")


def collectable_fees() -> list[int]:
    """The accounts of fees due where the store has something of the same coin here. Of a coin that
    is stopped for review nothing is taken: a deposit whose fee is due may never come back."""
    return [int(account_id) for (account_id,) in _COLLECTABLE.rows()]


@dataclass(frozen=True)
class StoreAccount:
    """An account that a store has had an entry in."""

    account_id: int
    asset_id: str
    kind: str
    atomic_decimals: int
    balance_atomic: int


_STORE_ACCOUNTS = """
SELECT a.id, a.asset_id, a.kind, s.atomic_decimals, ledger_balance(a.id) FROM ledger_account a
    JOIN assets_asset s ON s.id = a.asset_id
WHERE a.store_id = %s AND a.mode = %s
    AND EXISTS (SELECT 1 FROM ledger_entry e WHERE e.account_id = a.id)
ORDER BY s.position, a.asset_id, a.kind
"""


def store_accounts(store_id: uuid.UUID, mode: str) -> list[StoreAccount]:
    """The accounts of a store with their balances, in the order of the assets; what can be spent
    comes first."""
    with connection.cursor() as cursor:
        cursor.execute(_STORE_ACCOUNTS, [store_id, mode])
        return [
            StoreAccount(owner_id, asset_id, kind, decimals, int(amount))
            for owner_id, asset_id, kind, decimals, amount in cursor.fetchall()
        ]


# By the index, which IS NOT DISTINCT FROM doesn't go down.
_BALANCE = """
SELECT ledger_balance(id) FROM ledger_account
WHERE (store_id = %(store)s OR %(store)s::uuid IS NULL AND store_id IS NULL)
    AND mode = %(mode)s AND asset_id = %(asset)s AND kind = %(kind)s
"""


def account_balance(store_id: uuid.UUID | None, mode: str, asset_id: str, kind: str) -> int:
    """The balance of one account; 0 when it doesn't exist yet."""
    with connection.cursor() as cursor:
        cursor.execute(_BALANCE, {"store": store_id, "mode": mode, "asset": asset_id, "kind": kind})
        row = cursor.fetchone()
    return 0 if row is None else int(row[0])


_PROMISED = """
SELECT coalesce(sum(ledger_balance(id)), 0) FROM ledger_account
WHERE mode = %s AND asset_id = %s
    AND kind IN ('reserved', 'offramp_clearing', 'x402_clearing', 'withdrawal_clearing')
"""


def promised(mode: str, asset_id: str) -> int:
    """Amount reserved for leaving, of all stores."""
    with connection.cursor() as cursor:
        cursor.execute(_PROMISED, [mode, asset_id])
        return int(cursor.fetchone()[0])


_OF_THE_SERVICE = (
    "SELECT mode, asset_id, kind, ledger_balance(id) FROM ledger_account WHERE store_id IS NULL"
    " ORDER BY mode, asset_id, kind"
)


def service_balances() -> list[tuple[str, str, str, int]]:
    """(mode, asset id, kind, balance) of every account of the service; credit is positive."""
    with connection.cursor() as cursor:
        cursor.execute(_OF_THE_SERVICE)
        return [
            (mode, asset_id, kind, int(amount))
            for mode, asset_id, kind, amount in cursor.fetchall()
        ]


def balance_of(account_id: int) -> int:
    """The balance of the account with this id."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_balance(%s)", [account_id])
        return int(cursor.fetchone()[0])


@dataclass(frozen=True)
class Split:
    """Division of a payment's income in one asset. All zero and `booked_at` None before settlement.

    `refunded_atomic` counts refunds that were confirmed.
    """

    gross_atomic: int = 0
    service_fee_atomic: int = 0
    platform_fee_atomic: int = 0
    refunded_atomic: int = 0
    booked_at: datetime | None = None

    @property
    def is_any(self) -> bool:
        return self.booked_at is not None or self.refunded_atomic > 0


# What was divided; anyone who reads it says of which payments: `WHERE m.reference ... GROUP BY
# m.reference, e.asset_id`.
SPLITS = """
SELECT m.reference, e.asset_id,
       coalesce(-sum(e.amount_atomic) FILTER (WHERE e.role = 'gross'), 0) AS gross_atomic,
       coalesce(sum(e.amount_atomic)
           FILTER (WHERE e.role = 'service_fee'), 0) AS service_fee_atomic,
       coalesce(sum(e.amount_atomic)
           FILTER (WHERE m.kind <> 'platform_fee_returned' AND e.role = 'platform_fee'), 0)
           AS platform_fee_atomic,
       coalesce(sum(e.amount_atomic)
           FILTER (WHERE m.kind = 'refund_confirmed' AND e.role = 'principal'
           AND e.amount_atomic > 0), 0)
           AS refunded_atomic,
       min(m.at) FILTER (WHERE e.role = 'gross') AS booked_at
FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
"""
_SPLIT = SPLITS + "WHERE m.reference = ANY (%s) GROUP BY m.reference, e.asset_id"


def payment_split(payment_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, dict[str, Split]]:
    """Settled and refunded amounts of each payment, by asset: sums over the entries."""
    splits: dict[uuid.UUID, dict[str, Split]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_SPLIT, [list(payment_ids)])
        for (
            reference,
            asset_id,
            gross,
            service_fee,
            platform_fee,
            refunded,
            at,
        ) in cursor.fetchall():
            split = Split(int(gross), int(service_fee), int(platform_fee), int(refunded), at)
            if split.is_any:
                splits[reference][asset_id] = split
    return splits


_BOOKED = """
SELECT e.asset_id, sum(e.amount_atomic) FROM ledger_movement m
    JOIN ledger_entry e ON e.movement_id = m.id
JOIN ledger_account a ON a.id = e.account_id AND a.kind IN ('held', 'own_pending')
WHERE m.reference = %s AND m.kind IN ('deposit_confirmed', 'simulated_deposit_changed')
    GROUP BY e.asset_id
"""


def booked_deposits(payment_id: uuid.UUID) -> dict[str, int]:
    """Booked deposits of a payment, by asset."""
    with connection.cursor() as cursor:
        cursor.execute(_BOOKED, [payment_id])
        return {asset_id: int(amount) for asset_id, amount in cursor.fetchall()}


_MOVED = """
WITH added AS (SELECT id, kind, reference FROM ledger_movement WHERE id > %s ORDER BY id LIMIT %s)
SELECT coalesce(max(id), 0),
    array_agg(DISTINCT reference) FILTER (WHERE kind = ANY (%s) AND reference IS NOT NULL)
FROM added
"""
MOVEMENTS_AT_ONCE = 50_000


def moved_since(place: int, kinds: Iterable[str]) -> tuple[int, list[uuid.UUID]]:
    """Of the movements after that one, the last that was read (0 when there is none), and for whom
    those of these kinds are."""
    with connection.cursor() as cursor:
        cursor.execute(_MOVED, [place, MOVEMENTS_AT_ONCE, list(kinds)])
        newest, references = cursor.fetchone()
    return int(newest), references or []


def is_posted(keys: Iterable[str]) -> bool:
    """True if any of these keys has a movement."""
    return Movement.objects.filter(key__in=list(keys)).exists()


_CORRECTED = Statement("""
SELECT EXISTS (
    SELECT FROM ledger_movement m
    JOIN ledger_entry e ON e.movement_id = m.id
    JOIN ledger_account a ON a.id = e.account_id
    WHERE m.kind = 'correction' AND a.store_id = %(store)s AND a.mode = %(mode)s
        AND a.asset_id = %(asset)s
        AND m.id > (SELECT min(id) FROM ledger_movement WHERE key = ANY (%(keys)s::text[])))
""")


def is_corrected_since(
    store_id: uuid.UUID, mode: str, asset_id: str, deposit_ids: Iterable[uuid.UUID]
) -> bool:
    """Staff have corrected what the store has of an asset since the first of these deposits was
    booked."""
    booked = array(DEPOSIT.of(deposit_id) for deposit_id in deposit_ids)
    rows = _CORRECTED.rows(store=store_id, mode=mode, asset=asset_id, keys=booked)
    return bool(rows[0][0])


_RESERVED = Statement("""
SELECT coalesce(sum(e.amount_atomic), 0)
FROM ledger_movement m
JOIN ledger_entry e ON e.movement_id = m.id
JOIN ledger_account a ON a.id = e.account_id
WHERE m.reference = %(payout)s AND m.kind LIKE 'payout%%' AND a.kind = 'reserved'
""")


def reserved_for_payout(payout_id: uuid.UUID) -> int:
    """Amount set aside for a payout and not yet sent, given back or handed over."""
    return int(_RESERVED.rows(payout=payout_id)[0][0])
