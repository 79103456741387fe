"""The pairs of entries that several movements share."""

import uuid

from apps.ledger.chart import NETWORK_FEES
from apps.ledger.posting import EntryLine


def store_move(
    store_id: uuid.UUID, asset_id: str, source: str, target: str, amount: int
) -> list[EntryLine]:
    if amount <= 0:
        raise ValueError("what is moved is more than nothing")
    return [
        EntryLine(source, asset_id, -amount, "principal", store_id),
        EntryLine(target, asset_id, amount, "principal", store_id),
    ]


def gas(asset_id: str, gas_atomic: int, paid_from: str) -> list[EntryLine]:
    return [
        EntryLine(NETWORK_FEES, asset_id, -gas_atomic, "network_fee"),
        EntryLine(paid_from, asset_id, gas_atomic, "network_fee"),
    ]
