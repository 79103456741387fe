"""Swaps of a store: reserved, then exchanged or given back; on a chain the hot wallet's side as
well."""

import uuid
from typing import Unpack

from apps.ledger.movements.lines import Occasion, Owners, coins, positive, posting_of
from apps.ledger.posting import Posted, post


def swap_created(
    *,
    store_id: uuid.UUID,
    asset_id: str,
    swap_id: uuid.UUID,
    sell_atomic: int,
    **occasion: Unpack[Occasion],
) -> Posted:
    sold = positive(asset_id, sell_atomic)
    owners = Owners(store_id)
    return post(posting_of("swap_created", [swap_id], swap_id, occasion, sold, owners=owners))


def swap_completed(
    *,
    store_id: uuid.UUID,
    swap_id: uuid.UUID,
    source_asset_id: str,
    sell_atomic: int,
    buy_asset_id: str,
    buy_atomic: int,
    **occasion: Unpack[Occasion],
) -> Posted:
    return post(
        posting_of(
            "swap_completed",
            [swap_id],
            swap_id,
            occasion,
            coins(source_asset_id, sell_atomic),
            coins(buy_asset_id, buy_atomic),
            owners=Owners(store_id),
        )
    )


def swap_exchanged(
    *,
    swap_id: uuid.UUID,
    source_asset_id: str,
    sell_atomic: int,
    buy_asset_id: str,
    buy_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    **occasion: Unpack[Occasion],
) -> Posted:
    return post(
        posting_of(
            "swap_exchanged",
            [swap_id],
            swap_id,
            occasion,
            coins(source_asset_id, sell_atomic),
            coins(buy_asset_id, buy_atomic),
            coins(gas_asset_id, gas_atomic),
        )
    )


def swap_released(
    *,
    store_id: uuid.UUID,
    asset_id: str,
    swap_id: uuid.UUID,
    sell_atomic: int,
    gas_asset_id: str = "",
    gas_atomic: int = 0,
    **occasion: Unpack[Occasion],
) -> Posted:
    return post(
        posting_of(
            "swap_released",
            [swap_id],
            swap_id,
            occasion,
            positive(asset_id, sell_atomic),
            coins(gas_asset_id, gas_atomic),
            owners=Owners(store_id),
        )
    )


def swap_approval_paid(
    *,
    asset_id: str,
    reference: str,
    swap_id: uuid.UUID,
    gas_atomic: int,
    **occasion: Unpack[Occasion],
) -> Posted:
    gas = coins(asset_id, gas_atomic)
    return post(posting_of("swap_approval_paid", [reference], swap_id, occasion, gas))
