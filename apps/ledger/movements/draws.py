"""Draws of agents on their mandates: spent at once, and settled or given back when the chain has
spoken. And gas of what they sign."""

import uuid
from datetime import datetime
from typing import Unpack

from apps.ledger import keys
from apps.ledger.chart import AVAILABLE, CUSTODY_HOT, X402_CLEARING
from apps.ledger.movements.lines import (
    GasCharge,
    PaidMove,
    PaidStoreMove,
    StoreMove,
    charged_gas,
    gas,
    gas_of,
    principal,
)
from apps.ledger.posting import Posted, Posting, post


def x402_settled(*, settlement_id: uuid.UUID, **of: Unpack[StoreMove]) -> Posted:
    """An agent has drawn on a mandate: the store's coins are spent, whether or not they leave on
    the chain."""
    key = keys.X402.of(settlement_id)
    lines = principal(of, AVAILABLE, X402_CLEARING, of["store_id"])
    return post(Posting(key, "x402_settled", of["mode"], settlement_id, of["at"], lines))


def x402_confirmed(*, settlement_id: uuid.UUID, **of: Unpack[PaidMove]) -> Posted:
    """A dispatched draw is on the chain for good, and its gas is paid."""
    key = keys.X402_CONFIRMED.of(settlement_id)
    lines = [*principal(of, X402_CLEARING, CUSTODY_HOT), *gas_of(of, CUSTODY_HOT)]
    return post(Posting(key, "x402_confirmed", of["mode"], settlement_id, of["at"], lines))


def x402_reversed(*, settlement_id: uuid.UUID, **of: Unpack[PaidStoreMove]) -> Posted:
    """A draw has failed for good: the store has its coins back. One that the chain reverted has
    paid gas."""
    key = keys.X402_REVERSED.of(settlement_id)
    lines = [
        *principal(of, X402_CLEARING, AVAILABLE, of["store_id"]),
        *gas_of(of, CUSTODY_HOT),
    ]
    return post(Posting(key, "x402_reversed", of["mode"], settlement_id, of["at"], lines))


def x402_gas_paid(
    *,
    mode: str,
    asset_id: str,
    signed_id: uuid.UUID,
    payment_id: uuid.UUID,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """What a payer signed was carried out, or reverted, at the service's expense. The coins
    themselves come in as a deposit."""
    return post(
        Posting(
            keys.X402_GAS.of(signed_id),
            "x402_gas_paid",
            mode,
            payment_id,
            at,
            gas(asset_id, gas_atomic, CUSTODY_HOT),
        )
    )


def x402_gas_charged(
    *, signed_id: uuid.UUID, payment_id: uuid.UUID, **of: Unpack[GasCharge]
) -> Posted:
    """The store bears the gas of a signed payment."""
    key = keys.X402_GAS_CHARGED.of(signed_id)
    lines = charged_gas(of)
    return post(Posting(key, "x402_gas_charged", of["mode"], payment_id, of["at"], lines))
