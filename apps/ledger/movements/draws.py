"""Draws of agents on their mandates: spent at once, and settled or given back when the chain has
spoken. And gas of what they sign."""

import uuid
from datetime import datetime

from apps.ledger import keys
from apps.ledger.chart import AVAILABLE, CUSTODY_HOT, NETWORK_FEES, X402_CLEARING
from apps.ledger.movements.lines import gas
from apps.ledger.posting import EntryLine, Posted, Posting, post


def x402_settled(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    settlement_id: uuid.UUID,
    amount_atomic: int,
    at: datetime,
) -> Posted:
    """An agent has drawn on a mandate: the store's coins are spent, whether or not they leave on
    the chain."""
    lines = [
        EntryLine(AVAILABLE, asset_id, -amount_atomic, "principal", store_id),
        EntryLine(X402_CLEARING, asset_id, amount_atomic, "principal"),
    ]
    return post(
        Posting(keys.X402.of(settlement_id), "x402_settled", mode, settlement_id, at, lines)
    )


def x402_confirmed(
    *,
    mode: str,
    asset_id: str,
    settlement_id: uuid.UUID,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """A dispatched draw is on the chain for good, and its gas is paid."""
    lines = [
        EntryLine(X402_CLEARING, asset_id, -amount_atomic, "principal"),
        EntryLine(CUSTODY_HOT, asset_id, amount_atomic, "principal"),
        *gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(
        Posting(
            keys.X402_CONFIRMED.of(settlement_id), "x402_confirmed", mode, settlement_id, at, lines
        )
    )


def x402_reversed(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    settlement_id: uuid.UUID,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """A draw has failed for good: the store has its coins back. One that the chain reverted has
    paid gas."""
    lines = [
        EntryLine(X402_CLEARING, asset_id, -amount_atomic, "principal"),
        EntryLine(AVAILABLE, asset_id, amount_atomic, "principal", store_id),
        *gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(
        Posting(
            keys.X402_REVERSED.of(settlement_id), "x402_reversed", mode, settlement_id, at, lines
        )
    )


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
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    signed_id: uuid.UUID,
    payment_id: uuid.UUID,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """The store bears the gas of a signed payment."""
    lines = [
        EntryLine(AVAILABLE, asset_id, -gas_atomic, "network_fee", store_id),
        EntryLine(NETWORK_FEES, asset_id, gas_atomic, "network_fee"),
    ]
    return post(
        Posting(
            keys.X402_GAS_CHARGED.of(signed_id), "x402_gas_charged", mode, payment_id, at, lines
        )
    )
