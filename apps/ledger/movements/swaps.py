"""Swaps of a store: reserved, then exchanged or given back; on a chain the hot wallet's side as
well."""

import uuid
from datetime import datetime

from apps.ledger import keys
from apps.ledger.chart import AVAILABLE, CUSTODY_HOT, RESERVED, SWAP_CLEARING
from apps.ledger.movements.lines import gas, store_move
from apps.ledger.posting import EntryLine, Posted, Posting, post


def swap_created(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    swap_id: uuid.UUID,
    sell_atomic: int,
    at: datetime,
) -> Posted:
    """What is to be sold is set aside."""
    lines = store_move(store_id, asset_id, AVAILABLE, RESERVED, sell_atomic)
    return post(Posting(keys.SWAP.of(swap_id), "swap_created", mode, swap_id, at, lines))


def swap_completed(
    *,
    store_id: uuid.UUID,
    mode: str,
    swap_id: uuid.UUID,
    source_asset_id: str,
    sell_atomic: int,
    buy_asset_id: str,
    buy_atomic: int,
    at: datetime,
) -> Posted:
    """The store has sold and bought; the far side of both stands in the clearing account."""
    lines = [
        EntryLine(RESERVED, source_asset_id, -sell_atomic, "principal", store_id),
        EntryLine(SWAP_CLEARING, source_asset_id, sell_atomic, "principal"),
        EntryLine(SWAP_CLEARING, buy_asset_id, -buy_atomic, "principal"),
        EntryLine(AVAILABLE, buy_asset_id, buy_atomic, "principal", store_id),
    ]
    return post(
        Posting(keys.SWAP_COMPLETED.of(swap_id), "swap_completed", mode, swap_id, at, lines)
    )


def swap_exchanged(
    *,
    mode: str,
    swap_id: uuid.UUID,
    source_asset_id: str,
    sell_atomic: int,
    buy_asset_id: str,
    buy_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """A swap was made on a chain: what was sold has left the hot wallet, what was bought has come,
    and the clearing is even."""
    lines = [
        EntryLine(SWAP_CLEARING, source_asset_id, -sell_atomic, "principal"),
        EntryLine(CUSTODY_HOT, source_asset_id, sell_atomic, "principal"),
        EntryLine(CUSTODY_HOT, buy_asset_id, -buy_atomic, "principal"),
        EntryLine(SWAP_CLEARING, buy_asset_id, buy_atomic, "principal"),
        *gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(
        Posting(keys.SWAP_EXCHANGED.of(swap_id), "swap_exchanged", mode, swap_id, at, lines)
    )


def swap_released(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    swap_id: uuid.UUID,
    sell_atomic: int,
    at: datetime,
    gas_asset_id: str = "",
    gas_atomic: int = 0,
) -> Posted:
    """A swap has failed: the source goes back to what can be spent. One that the chain reverted has
    paid gas."""
    lines = [
        *store_move(store_id, asset_id, RESERVED, AVAILABLE, sell_atomic),
        *gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(Posting(keys.SWAP_RELEASED.of(swap_id), "swap_released", mode, swap_id, at, lines))


def swap_approval_paid(
    *, mode: str, asset_id: str, reference: str, swap_id: uuid.UUID, gas_atomic: int, at: datetime
) -> Posted:
    """The router was allowed to take the tokens of a swap, or no longer: that cost gas and moved
    nothing."""
    return post(
        Posting(
            keys.SWAP_APPROVAL.of(reference),
            "swap_approval_paid",
            mode,
            swap_id,
            at,
            gas(asset_id, gas_atomic, CUSTODY_HOT),
        )
    )
