"""Payouts of a store: reserved, then gone, given back, or handed to the off-ramp and back."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict, Unpack

from apps.ledger import keys
from apps.ledger.chart import (
    AVAILABLE,
    CUSTODY_HOT,
    CUSTODY_SIMULATED,
    NETWORK_FEES,
    OFFRAMP_CLEARING,
    RESERVED,
)
from apps.ledger.movements.lines import (
    GasCharge,
    ServiceMove,
    StoreMove,
    charged_gas,
    gas,
    principal,
    store_move,
)
from apps.ledger.posting import EntryLine, Posted, Posting, post, post_many


def payout_created(*, payout_id: uuid.UUID, **of: Unpack[StoreMove]) -> Posted:
    """What is to be paid out is set aside."""
    key = keys.PAYOUT.of(payout_id)
    lines = store_move(of["store_id"], of["asset_id"], AVAILABLE, RESERVED, of["amount_atomic"])
    return post(Posting(key, "payout_created", of["mode"], payout_id, of["at"], lines))


class Confirmed(TypedDict):
    """A payout that is on the chain for good, and its gas."""

    store_id: uuid.UUID
    mode: str
    asset_id: str
    payout_id: uuid.UUID
    amount_atomic: int
    withheld_atomic: int
    gas_asset_id: str
    gas_atomic: int
    is_simulated: bool
    at: datetime


def payout_confirmed(**of: Unpack[Confirmed]) -> Posted:
    """A payout is on the chain for good, and its gas is paid. What the store bears of the fee was
    withheld and has not left."""
    return post(_confirmed(of))


def payouts_confirmed(many: Sequence[Confirmed]) -> None:
    """The same for many, in one statement."""
    post_many([_confirmed(of) for of in many])


def _confirmed(of: Confirmed) -> Posting:
    custody = CUSTODY_SIMULATED if of["is_simulated"] else CUSTODY_HOT
    lines = [
        EntryLine(RESERVED, of["asset_id"], -of["amount_atomic"], "principal", of["store_id"]),
        EntryLine(
            custody, of["asset_id"], of["amount_atomic"] - of["withheld_atomic"], "principal"
        ),
        EntryLine(NETWORK_FEES, of["asset_id"], of["withheld_atomic"], "network_fee"),
        *gas(of["gas_asset_id"], of["gas_atomic"], custody),
    ]
    return Posting(
        keys.PAYOUT_CONFIRMED.of(of["payout_id"]),
        "payout_confirmed",
        of["mode"],
        of["payout_id"],
        of["at"],
        lines,
    )


def payout_released(*, payout_id: uuid.UUID, **of: Unpack[StoreMove]) -> Posted:
    """A payout has failed for good: the coins can be spent again."""
    key = keys.PAYOUT_RELEASED.of(payout_id)
    lines = store_move(of["store_id"], of["asset_id"], RESERVED, AVAILABLE, of["amount_atomic"])
    return post(Posting(key, "payout_released", of["mode"], payout_id, of["at"], lines))


def payout_gas_paid(
    *, mode: str, asset_id: str, reference: str, payout_id: uuid.UUID, gas_atomic: int, at: datetime
) -> Posted:
    """A transaction of a payout cost gas and moved nothing of the store's: it was reverted, or went
    to the off-ramp."""
    return post(
        Posting(
            keys.PAYOUT_GAS.of(reference),
            "payout_gas_paid",
            mode,
            payout_id,
            at,
            gas(asset_id, gas_atomic, CUSTODY_HOT),
        )
    )


def payout_gas_charged(
    *, payout_id: uuid.UUID, charged_before_atomic: int, **of: Unpack[GasCharge]
) -> Posted:
    """The store bears gas that an attempt of its payout cost in vain."""
    key = keys.PAYOUT_GAS_CHARGED.of(payout_id, charged_before_atomic)
    lines = charged_gas(of)
    return post(Posting(key, "payout_gas_charged", of["mode"], payout_id, of["at"], lines))


def payout_handed_over(*, payout_id: uuid.UUID, attempt: int, **of: Unpack[StoreMove]) -> Posted:
    """The off-ramp has taken the order of a bank payout."""
    key = keys.PAYOUT_HANDED_OVER.of(payout_id, attempt)
    lines = principal(of, RESERVED, OFFRAMP_CLEARING, of["store_id"])
    return post(Posting(key, "payout_handed_over", of["mode"], payout_id, of["at"], lines))


def payout_handed_back(*, payout_id: uuid.UUID, attempt: int, **of: Unpack[StoreMove]) -> Posted:
    """The off-ramp has given up an order that it had taken."""
    key = keys.PAYOUT_HANDED_BACK.of(payout_id, attempt)
    lines = principal(of, OFFRAMP_CLEARING, RESERVED, of["store_id"])
    return post(Posting(key, "payout_handed_back", of["mode"], payout_id, of["at"], lines))


def payout_settled(
    *, payout_id: uuid.UUID, is_simulated: bool, **of: Unpack[ServiceMove]
) -> Posted:
    """The bank has paid, and the coins have left for the off-ramp."""
    key = keys.PAYOUT_SETTLED.of(payout_id)
    lines = principal(of, OFFRAMP_CLEARING, CUSTODY_SIMULATED if is_simulated else CUSTODY_HOT)
    return post(Posting(key, "payout_settled", of["mode"], payout_id, of["at"], lines))
