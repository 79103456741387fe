"""Reads of the ledger: balances at a cost that doesn't grow with history, and sums over a payment's entries."""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from apps.ledger.models import Entry


@dataclass(frozen=True)
class Balance:
    """What a store has of an asset: spendable now, held for unfinished payments, reserved for what is under way."""

    asset_id: str
    available_atomic: int = 0
    held_atomic: int = 0
    reserved_atomic: int = 0

    @property
    def total_atomic(self) -> int:
        return self.available_atomic + self.held_atomic + self.reserved_atomic


_BALANCES = "SELECT asset_id, kind, ledger_balance(id) FROM ledger_account WHERE store_id = %s AND mode = %s"


def balances(store_id: uuid.UUID, mode: str) -> dict[str, Balance]:
    """The balances of a store in a mode, by asset."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_BALANCES, [store_id, mode])
        for asset_id, kind, amount in cursor.fetchall():
            found[asset_id][f"{kind}_atomic"] = int(amount)
    return {asset_id: Balance(asset_id, **amounts) for asset_id, amounts in found.items()}


@dataclass(frozen=True)
class Split:
    """How what a payment received in one asset was divided. All zero and `booked_at` None before settlement."""

    gross_atomic: int = 0
    service_fee_atomic: int = 0
    platform_fee_atomic: int = 0
    refunded_atomic: int = 0
    booked_at: datetime | None = None


_SETTLING = ("payment_settled", "overpayment_settled", "late_deposit_accepted")
_SPLIT = """
SELECT m.reference, e.asset_id,
       coalesce(-sum(e.amount_atomic) FILTER (WHERE e.role = 'gross'), 0),
       coalesce(sum(e.amount_atomic) FILTER (WHERE e.role = 'service_fee'), 0),
       coalesce(sum(e.amount_atomic) FILTER (WHERE e.role = 'platform_fee'), 0),
       min(m.at)
FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
WHERE m.reference = ANY (%s) AND m.kind = ANY (%s)
GROUP BY m.reference, e.asset_id
"""


def payment_split(payment_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, dict[str, Split]]:
    """What was settled of each payment, by asset: sums over the entries."""
    found: dict[uuid.UUID, dict[str, Split]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_SPLIT, [list(payment_ids), list(_SETTLING)])
        for reference, asset_id, gross, service_fee, platform_fee, at in cursor.fetchall():
            found[reference][asset_id] = Split(int(gross), int(service_fee), int(platform_fee), 0, at)
    return found


_BOOKED = """
SELECT e.asset_id, sum(e.amount_atomic) FROM ledger_movement m JOIN ledger_entry e ON e.movement_id = m.id
JOIN ledger_account a ON a.id = e.account_id AND a.kind = 'held'
WHERE m.reference = %s AND m.kind IN ('deposit_confirmed', 'simulated_deposit_changed') GROUP BY e.asset_id
"""


def booked_deposits(payment_id: uuid.UUID) -> dict[str, int]:
    """What the ledger has taken in for a payment, by asset."""
    with connection.cursor() as cursor:
        cursor.execute(_BOOKED, [payment_id])
        return {asset_id: int(amount) for asset_id, amount in cursor.fetchall()}


def movements_of(reference: uuid.UUID) -> list[Entry]:
    """Every entry that serves a record, in order, for staff."""
    rows = Entry.objects.filter(movement__reference=reference).select_related("movement", "account")
    return list(rows.order_by("movement_id", "id"))
