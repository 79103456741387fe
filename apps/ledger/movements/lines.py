"""What several movements say, and the pairs of entries that they share."""

import uuid
from datetime import datetime
from typing import TypedDict

from apps.ledger.chart import AVAILABLE, CHART, NETWORK_FEES, STORE
from apps.ledger.posting import EntryLine


class ServiceMove(TypedDict):
    """So many coins of an asset change accounts of the service."""

    mode: str
    asset_id: str
    amount_atomic: int
    at: datetime


class StoreMove(ServiceMove):
    """The same out of or into the account of a store."""

    store_id: uuid.UUID


class PaidMove(ServiceMove):
    """A transfer on a chain, and the gas that it cost."""

    gas_asset_id: str
    gas_atomic: int


class PaidStoreMove(StoreMove, PaidMove):
    """The same out of or into the account of a store."""


class GasCharge(TypedDict):
    """A store bears gas that the service has paid."""

    store_id: uuid.UUID
    mode: str
    asset_id: str
    gas_atomic: int
    at: datetime


def principal(
    of: ServiceMove, debited: str, credited: str, store_id: uuid.UUID | None = None
) -> list[EntryLine]:
    """The coins themselves; the store is that of whichever account belongs to one."""

    def line(kind: str, amount_atomic: int) -> EntryLine:
        owner = store_id if CHART[kind].owner == STORE else None
        return EntryLine(kind, of["asset_id"], amount_atomic, "principal", owner)

    return [line(debited, -of["amount_atomic"]), line(credited, of["amount_atomic"])]


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


def gas_of(of: PaidMove, paid_from: str) -> list[EntryLine]:
    return gas(of["gas_asset_id"], of["gas_atomic"], paid_from)


def charged_gas(of: GasCharge) -> list[EntryLine]:
    return [
        EntryLine(AVAILABLE, of["asset_id"], -of["gas_atomic"], "network_fee", of["store_id"]),
        EntryLine(NETWORK_FEES, of["asset_id"], of["gas_atomic"], "network_fee"),
    ]
