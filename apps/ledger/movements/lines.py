"""Arguments of movements, and the posting that a row of the table makes of them."""

import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from apps.ledger.chart import CHART, STORE
from apps.ledger.movements.table import MOVEMENTS, Flow, Leg
from apps.ledger.posting import EntryLine, Posting


class Occasion(TypedDict):
    """In which mode something moves, and when by the store's clock."""

    mode: str
    at: datetime


class ServiceMove(Occasion):
    """So many coins of an asset change accounts of the service."""

    asset_id: str
    amount_atomic: int


class StoreMove(ServiceMove):
    """A move out of or into the account of a store."""

    store_id: uuid.UUID


class PaidMove(ServiceMove):
    """A transfer on a chain, and the gas that it cost."""

    gas_asset_id: str
    gas_atomic: int


class PaidStoreMove(StoreMove, PaidMove):
    """A move out of or into the account of a store, with a cost."""


class GasCharge(Occasion):
    """A store bears gas that the service has paid."""

    store_id: uuid.UUID
    asset_id: str
    gas_atomic: int


@dataclass(frozen=True)
class Owners:
    """Owners of the accounts of a store's and a platform's kind."""

    store_id: uuid.UUID | None = None
    platform_id: uuid.UUID | None = None

    def of(self, leg: Leg, kind: str) -> uuid.UUID | None:
        if CHART[kind].owner != STORE:
            return None
        return self.platform_id if leg.is_platforms else self.store_id


@dataclass(frozen=True)
class Coins:
    """The coins of a flow: so many for each of its credited accounts."""

    asset_id: str
    amounts: tuple[int, ...]


def posting_of(
    name: str,
    key_parts: Sequence[object],
    reference: uuid.UUID | None,
    occasion: Occasion,
    *flows: Coins,
    owners: Owners = Owners(),
    using: Collection[str] = (),
    reason: str = "",
    staff_id: uuid.UUID | None = None,
) -> Posting:
    """The posting of a row: coins for each of its flows, in its order. `using` names the accounts
    that are meant where the row has a choice. Raises ValueError for what the row doesn't have."""
    row = MOVEMENTS[name]
    if using and not row.accounts.issuperset(using):
        raise ValueError(f"{name} doesn't move {', '.join(sorted(set(using) - row.accounts))}")
    lines = [
        line
        for flow, coins in zip(row.flows, flows, strict=True)
        for line in _lines(flow, coins, owners, using)
    ]
    return Posting(
        row.key.of(*key_parts),
        name,
        occasion["mode"],
        reference,
        occasion["at"],
        lines,
        reason,
        staff_id,
    )


def _lines(flow: Flow, coins: Coins, owners: Owners, using: Collection[str]) -> Iterator[EntryLine]:
    amounts = (-sum(coins.amounts), *coins.amounts)
    for leg, amount in zip(flow.legs, amounts, strict=True):
        kind = next((kind for kind in leg.kinds if kind in using), leg.kinds[0])
        yield EntryLine(kind, coins.asset_id, amount, leg.role, owners.of(leg, kind))


def coins(asset_id: str, *amounts: int) -> Coins:
    return Coins(asset_id, amounts)


def moved(of: ServiceMove) -> Coins:
    return coins(of["asset_id"], of["amount_atomic"])


def positive(asset_id: str, amount_atomic: int) -> Coins:
    """Refuses to reserve or return nothing."""
    if amount_atomic <= 0:
        raise ValueError("what is moved is more than nothing")
    return coins(asset_id, amount_atomic)


def positive_of(of: StoreMove) -> Coins:
    return positive(of["asset_id"], of["amount_atomic"])


def gas_of(of: PaidMove) -> Coins:
    return coins(of["gas_asset_id"], of["gas_atomic"])
