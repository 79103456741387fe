"""Refunds, and returns of unmatched transfers: reserved, then gone for good or given back; the
platform's share of a refunded fee."""

import uuid
from datetime import datetime
from typing import Unpack

from django.db import transaction

from apps.ledger import keys
from apps.ledger.chart import AVAILABLE, CUSTODY_HOT, CUSTODY_SIMULATED, HELD, RESERVED
from apps.ledger.movements.lines import (
    PaidStoreMove,
    StoreMove,
    gas,
    gas_of,
    principal,
    store_move,
)
from apps.ledger.posting import EntryLine, Posted, Posting, locked_balance, post


def refund_created(
    *,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    is_from_held: bool,
    **of: Unpack[StoreMove],
) -> Posted:
    """A refund is under way: a completed payment's comes from what is available, any other's from
    what is held."""
    key = keys.REFUND.of(refund_id)
    source = HELD if is_from_held else AVAILABLE
    lines = store_move(of["store_id"], of["asset_id"], source, RESERVED, of["amount_atomic"])
    return post(Posting(key, "refund_created", of["mode"], payment_id, of["at"], lines))


def refund_confirmed(
    *,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    is_simulated: bool,
    **of: Unpack[PaidStoreMove],
) -> Posted:
    """A refund is on the chain for good, and its gas is paid; a simulated one goes back out of the
    simulated coins."""
    key = keys.REFUND_CONFIRMED.of(refund_id)
    lines = _sent(of, is_simulated)
    return post(Posting(key, "refund_confirmed", of["mode"], payment_id, of["at"], lines))


def refund_released(
    *,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    is_to_held: bool,
    gas_asset_id: str = "",
    gas_atomic: int = 0,
    **of: Unpack[StoreMove],
) -> Posted:
    """A refund has failed for good: the coins go back to where they came from. One that the chain
    reverted has paid gas."""
    key = keys.REFUND_RELEASED.of(refund_id)
    target = HELD if is_to_held else AVAILABLE
    lines = store_move(of["store_id"], of["asset_id"], RESERVED, target, of["amount_atomic"])
    lines += gas(gas_asset_id, gas_atomic, CUSTODY_HOT)
    return post(Posting(key, "refund_released", of["mode"], payment_id, of["at"], lines))


class Returned(StoreMove):
    """An unmatched transfer on its way back, and the payment that it is held for."""

    payment_id: uuid.UUID
    return_id: uuid.UUID


class PaidReturn(Returned, PaidStoreMove):
    """The same on a chain, with its gas."""


def transfer_return_created(**of: Unpack[Returned]) -> Posted:
    """What an unmatched transfer brought is about to go back; its coins are set aside as a refund's
    are. It is no refund: nothing of the payment that it is held for goes."""
    key = keys.REFUND.of(of["return_id"])
    lines = store_move(of["store_id"], of["asset_id"], HELD, RESERVED, of["amount_atomic"])
    return post(
        Posting(key, "transfer_return_created", of["mode"], of["payment_id"], of["at"], lines)
    )


def transfer_return_confirmed(*, is_simulated: bool, **of: Unpack[PaidReturn]) -> Posted:
    """It is on the chain for good, and its gas is paid."""
    key = keys.REFUND_CONFIRMED.of(of["return_id"])
    lines = _sent(of, is_simulated)
    return post(
        Posting(key, "transfer_return_confirmed", of["mode"], of["payment_id"], of["at"], lines)
    )


def transfer_return_released(**of: Unpack[PaidReturn]) -> Posted:
    """It has failed for good: the coins are held again. One that the chain reverted has paid
    gas."""
    key = keys.REFUND_RELEASED.of(of["return_id"])
    lines = store_move(of["store_id"], of["asset_id"], RESERVED, HELD, of["amount_atomic"])
    lines += gas_of(of, CUSTODY_HOT)
    return post(
        Posting(key, "transfer_return_released", of["mode"], of["payment_id"], of["at"], lines)
    )


def _sent(of: PaidStoreMove, is_simulated: bool) -> list[EntryLine]:
    """What was set aside has left, and its gas is paid."""
    custody = CUSTODY_SIMULATED if is_simulated else CUSTODY_HOT
    return [*principal(of, RESERVED, custody, of["store_id"]), *gas_of(of, custody)]


@transaction.atomic
def platform_fee_returned(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    platform_id: uuid.UUID,
    share_atomic: int,
    at: datetime,
) -> int:
    """The platform gives back its share of what was refunded, as far as its balance reaches; what
    this call gave back."""
    amount = min(share_atomic, locked_balance(platform_id, mode, asset_id, AVAILABLE))
    if amount <= 0:
        return 0
    lines = [
        EntryLine(AVAILABLE, asset_id, -amount, "platform_fee", platform_id),
        EntryLine(AVAILABLE, asset_id, amount, "net", store_id),
    ]
    posting = Posting(
        keys.PLATFORM_FEE_RETURNED.of(refund_id),
        "platform_fee_returned",
        mode,
        payment_id,
        at,
        lines,
    )
    return amount if post(posting).is_new else 0
