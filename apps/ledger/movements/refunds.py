"""Refunds, and returns of unmatched transfers: reserved, then gone for good or given back; the
platform's share of a refunded fee."""

import uuid
from datetime import datetime
from typing import TypedDict, Unpack

from django.db import transaction

from apps.ledger import keys
from apps.ledger.chart import AVAILABLE, CUSTODY_HOT, CUSTODY_SIMULATED, HELD, RESERVED
from apps.ledger.movements.lines import gas, store_move
from apps.ledger.posting import EntryLine, Posted, Posting, locked_balance, post


def refund_created(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    amount_atomic: int,
    is_from_held: bool,
    at: datetime,
) -> Posted:
    """A refund is under way: a completed payment's comes from what is available, any other's from
    what is held."""
    lines = store_move(
        store_id, asset_id, HELD if is_from_held else AVAILABLE, RESERVED, amount_atomic
    )
    return post(Posting(keys.REFUND.of(refund_id), "refund_created", mode, payment_id, at, lines))


def refund_confirmed(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    is_simulated: bool,
    at: datetime,
) -> Posted:
    """A refund is on the chain for good, and its gas is paid; a simulated one goes back out of the
    simulated coins."""
    custody = CUSTODY_SIMULATED if is_simulated else CUSTODY_HOT
    lines = [
        EntryLine(RESERVED, asset_id, -amount_atomic, "principal", store_id),
        EntryLine(custody, asset_id, amount_atomic, "principal"),
        *gas(gas_asset_id, gas_atomic, custody),
    ]
    return post(
        Posting(
            keys.REFUND_CONFIRMED.of(refund_id), "refund_confirmed", mode, payment_id, at, lines
        )
    )


def refund_released(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    payment_id: uuid.UUID,
    refund_id: uuid.UUID,
    amount_atomic: int,
    is_to_held: bool,
    at: datetime,
    gas_asset_id: str = "",
    gas_atomic: int = 0,
) -> Posted:
    """A refund has failed for good: the coins go back to where they came from. One that the chain
    reverted has paid gas."""
    lines = store_move(
        store_id, asset_id, RESERVED, HELD if is_to_held else AVAILABLE, amount_atomic
    )
    lines += gas(gas_asset_id, gas_atomic, CUSTODY_HOT)
    return post(
        Posting(keys.REFUND_RELEASED.of(refund_id), "refund_released", mode, payment_id, at, lines)
    )


class Returned(TypedDict):
    """An unmatched transfer on its way back, and the payment that it is held for. Its coins are set
    aside as a refund's are."""

    store_id: uuid.UUID
    mode: str
    asset_id: str
    payment_id: uuid.UUID
    return_id: uuid.UUID
    amount_atomic: int
    at: datetime


def transfer_return_created(**of: Unpack[Returned]) -> Posted:
    """What an unmatched transfer brought is about to go back. It is no refund: nothing of the
    payment goes."""
    lines = store_move(of["store_id"], of["asset_id"], HELD, RESERVED, of["amount_atomic"])
    return post(
        Posting(
            keys.REFUND.of(of["return_id"]),
            "transfer_return_created",
            of["mode"],
            of["payment_id"],
            of["at"],
            lines,
        )
    )


def transfer_return_confirmed(
    *, gas_asset_id: str, gas_atomic: int, is_simulated: bool, **of: Unpack[Returned]
) -> Posted:
    """It is on the chain for good, and its gas is paid."""
    custody = CUSTODY_SIMULATED if is_simulated else CUSTODY_HOT
    lines = [
        EntryLine(RESERVED, of["asset_id"], -of["amount_atomic"], "principal", of["store_id"]),
        EntryLine(custody, of["asset_id"], of["amount_atomic"], "principal"),
        *gas(gas_asset_id, gas_atomic, custody),
    ]
    return post(
        Posting(
            keys.REFUND_CONFIRMED.of(of["return_id"]),
            "transfer_return_confirmed",
            of["mode"],
            of["payment_id"],
            of["at"],
            lines,
        )
    )


def transfer_return_released(
    *, gas_asset_id: str, gas_atomic: int, **of: Unpack[Returned]
) -> Posted:
    """It has failed for good: the coins are held again. One that the chain reverted has paid
    gas."""
    lines = store_move(of["store_id"], of["asset_id"], RESERVED, HELD, of["amount_atomic"])
    lines += gas(gas_asset_id, gas_atomic, CUSTODY_HOT)
    return post(
        Posting(
            keys.REFUND_RELEASED.of(of["return_id"]),
            "transfer_return_released",
            of["mode"],
            of["payment_id"],
            of["at"],
            lines,
        )
    )


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
