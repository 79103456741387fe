"""Draws of agents on their mandates, and gas of what payers sign (rows `x402_…`)."""

import uuid
from typing import Unpack

from apps.ledger.movements.lines import (
    GasCharge,
    Occasion,
    Owners,
    PaidMove,
    PaidStoreMove,
    StoreMove,
    coins,
    gas_of,
    moved,
    posting_of,
)
from apps.ledger.posting import Posted, post


def x402_settled(*, settlement_id: uuid.UUID, **of: Unpack[StoreMove]) -> Posted:
    owners = Owners(of["store_id"])
    return post(
        posting_of("x402_settled", [settlement_id], settlement_id, of, moved(of), owners=owners)
    )


def x402_confirmed(*, settlement_id: uuid.UUID, **of: Unpack[PaidMove]) -> Posted:
    return post(
        posting_of("x402_confirmed", [settlement_id], settlement_id, of, moved(of), gas_of(of))
    )


def x402_reversed(*, settlement_id: uuid.UUID, **of: Unpack[PaidStoreMove]) -> Posted:
    return post(
        posting_of(
            "x402_reversed",
            [settlement_id],
            settlement_id,
            of,
            moved(of),
            gas_of(of),
            owners=Owners(of["store_id"]),
        )
    )


def x402_gas_paid(
    *,
    asset_id: str,
    signed_id: uuid.UUID,
    payment_id: uuid.UUID,
    gas_atomic: int,
    **occasion: Unpack[Occasion],
) -> Posted:
    gas = coins(asset_id, gas_atomic)
    return post(posting_of("x402_gas_paid", [signed_id], payment_id, occasion, gas))


def x402_gas_charged(
    *, signed_id: uuid.UUID, payment_id: uuid.UUID, **of: Unpack[GasCharge]
) -> Posted:
    gas = coins(of["asset_id"], of["gas_atomic"])
    owners = Owners(of["store_id"])
    return post(posting_of("x402_gas_charged", [signed_id], payment_id, of, gas, owners=owners))
