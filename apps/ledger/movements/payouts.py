"""Payouts of a store: reserved, then gone, given back, or handed to the off-ramp and back."""

import uuid
from collections.abc import Sequence
from typing import Unpack

from apps.ledger.chart import CUSTODY_HOT, CUSTODY_SIMULATED
from apps.ledger.movements.lines import (
    GasCharge,
    Occasion,
    Owners,
    PaidStoreMove,
    ServiceMove,
    StoreMove,
    coins,
    gas_of,
    moved,
    positive_of,
    posting_of,
)
from apps.ledger.posting import Posted, Posting, post, post_many


def payout_created(*, payout_id: uuid.UUID, **of: Unpack[StoreMove]) -> Posted:
    owners = Owners(of["store_id"])
    return post(
        posting_of("payout_created", [payout_id], payout_id, of, positive_of(of), owners=owners)
    )


class Confirmed(PaidStoreMove):
    """A payout that is on the chain for good, and its gas."""

    payout_id: uuid.UUID
    withheld_atomic: int
    is_simulated: bool


def payout_confirmed(payouts: Sequence[Confirmed]) -> None:
    """Many in one statement. What the store bears of the fee was withheld and has not left."""
    post_many([_confirmed(of) for of in payouts])


def _confirmed(of: Confirmed) -> Posting:
    withheld = of["withheld_atomic"]
    return posting_of(
        "payout_confirmed",
        [of["payout_id"]],
        of["payout_id"],
        of,
        coins(of["asset_id"], of["amount_atomic"] - withheld, withheld),
        gas_of(of),
        owners=Owners(of["store_id"]),
        using=[_custody(of["is_simulated"])],
    )


def payout_released(*, payout_id: uuid.UUID, **of: Unpack[StoreMove]) -> Posted:
    owners = Owners(of["store_id"])
    return post(
        posting_of("payout_released", [payout_id], payout_id, of, positive_of(of), owners=owners)
    )


def payout_gas_paid(
    *,
    asset_id: str,
    reference: str,
    payout_id: uuid.UUID,
    gas_atomic: int,
    **occasion: Unpack[Occasion],
) -> Posted:
    gas = coins(asset_id, gas_atomic)
    return post(posting_of("payout_gas_paid", [reference], payout_id, occasion, gas))


def payout_gas_charged(
    *, payout_id: uuid.UUID, charged_before_atomic: int, **of: Unpack[GasCharge]
) -> Posted:
    return post(
        posting_of(
            "payout_gas_charged",
            [payout_id, charged_before_atomic],
            payout_id,
            of,
            coins(of["asset_id"], of["gas_atomic"]),
            owners=Owners(of["store_id"]),
        )
    )


def payout_handed_over(*, payout_id: uuid.UUID, attempt: int, **of: Unpack[StoreMove]) -> Posted:
    return post(_handed("payout_handed_over", payout_id, attempt, of))


def payout_handed_back(*, payout_id: uuid.UUID, attempt: int, **of: Unpack[StoreMove]) -> Posted:
    return post(_handed("payout_handed_back", payout_id, attempt, of))


def _handed(name: str, payout_id: uuid.UUID, attempt: int, of: StoreMove) -> Posting:
    owners = Owners(of["store_id"])
    return posting_of(name, [payout_id, attempt], payout_id, of, moved(of), owners=owners)


def payout_settled(
    *, payout_id: uuid.UUID, is_simulated: bool, **of: Unpack[ServiceMove]
) -> Posted:
    using = [_custody(is_simulated)]
    return post(posting_of("payout_settled", [payout_id], payout_id, of, moved(of), using=using))


def _custody(is_simulated: bool) -> str:
    return CUSTODY_SIMULATED if is_simulated else CUSTODY_HOT
