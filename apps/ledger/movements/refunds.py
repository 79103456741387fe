"""Refunds, and returns of unmatched transfers: reserved, then gone for good or given back; the
platform's share of a refunded fee."""

import uuid
from typing import Unpack

from django.db import transaction

from apps.ledger.chart import AVAILABLE, CUSTODY_HOT, CUSTODY_SIMULATED, HELD
from apps.ledger.movements.lines import (
    Occasion,
    Owners,
    PaidStoreMove,
    StoreMove,
    coins,
    gas_of,
    moved,
    positive_of,
    posting_of,
)
from apps.ledger.posting import Posted, Posting, locked_balance, platform_share, post


def refund_created(
    *,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    is_from_held: bool,
    **of: Unpack[StoreMove],
) -> Posted:
    """A completed payment's refund comes from what is available, any other's from what is held."""
    return post(
        posting_of(
            "refund_created",
            [refund_id],
            payment_id,
            of,
            positive_of(of),
            owners=Owners(of["store_id"]),
            using=[HELD if is_from_held else AVAILABLE],
        )
    )


def refund_confirmed(
    *,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    is_simulated: bool,
    **of: Unpack[PaidStoreMove],
) -> Posted:
    return post(_sent("refund_confirmed", refund_id, payment_id, of, is_simulated))


def refund_released(
    *,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    is_to_held: bool,
    gas_asset_id: str = "",
    gas_atomic: int = 0,
    **of: Unpack[StoreMove],
) -> Posted:
    """The coins go back to where they came from."""
    return post(
        posting_of(
            "refund_released",
            [refund_id],
            payment_id,
            of,
            positive_of(of),
            coins(gas_asset_id, gas_atomic),
            owners=Owners(of["store_id"]),
            using=[HELD if is_to_held else AVAILABLE],
        )
    )


class Returned(StoreMove):
    """An unmatched transfer on its way back, and the payment that it is held for."""

    payment_id: uuid.UUID
    return_id: uuid.UUID


class PaidReturn(Returned, PaidStoreMove):
    """A return on a chain, with its gas."""


def transfer_return_created(**of: Unpack[Returned]) -> Posted:
    return post(
        posting_of(
            "transfer_return_created",
            [of["return_id"]],
            of["payment_id"],
            of,
            positive_of(of),
            owners=Owners(of["store_id"]),
        )
    )


def transfer_return_confirmed(*, is_simulated: bool, **of: Unpack[PaidReturn]) -> Posted:
    name = "transfer_return_confirmed"
    return post(_sent(name, of["return_id"], of["payment_id"], of, is_simulated))


def transfer_return_released(**of: Unpack[PaidReturn]) -> Posted:
    return post(
        posting_of(
            "transfer_return_released",
            [of["return_id"]],
            of["payment_id"],
            of,
            positive_of(of),
            gas_of(of),
            owners=Owners(of["store_id"]),
        )
    )


def _sent(
    name: str, id: uuid.UUID, payment_id: uuid.UUID, of: PaidStoreMove, is_simulated: bool
) -> Posting:
    return posting_of(
        name,
        [id],
        payment_id,
        of,
        moved(of),
        gas_of(of),
        owners=Owners(of["store_id"]),
        using=[CUSTODY_SIMULATED if is_simulated else CUSTODY_HOT],
    )


@transaction.atomic
def platform_fee_returned(
    *,
    store_id: uuid.UUID,
    asset_id: str,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    platform_id: uuid.UUID,
    share_atomic: int,
    **occasion: Unpack[Occasion],
) -> int:
    """The amount that this call gave back of the platform's share: no more than the books say that
    it has of this payment, whatever the payment's row says."""
    balance = locked_balance(platform_id, occasion["mode"], asset_id, AVAILABLE)
    amount = min(share_atomic, balance, platform_share(payment_id, platform_id, asset_id))
    if amount <= 0:
        return 0
    posting = posting_of(
        "platform_fee_returned",
        [refund_id],
        payment_id,
        occasion,
        coins(asset_id, amount),
        owners=Owners(store_id, platform_id),
    )
    return amount if post(posting).is_new else 0
