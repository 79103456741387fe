"""Deposits that came in, and their settlement in three shares: the merchant's, the service's fee,
the platform's fee."""

import uuid
from datetime import datetime
from typing import NotRequired, TypedDict, Unpack

from apps.ledger import keys
from apps.ledger.chart import AVAILABLE, CUSTODY_DEPOSITS, CUSTODY_SIMULATED, HELD, SERVICE_FEES
from apps.ledger.posting import EntryLine, Posted, Posting, post


def deposit_confirmed(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    deposit_id: uuid.UUID,
    amount_atomic: int,
    payment_id: uuid.UUID,
    is_simulated: bool,
    at: datetime,
) -> Posted:
    """Coins have arrived for good: they are in custody, and held for the store until their payment
    is settled."""
    custody = CUSTODY_SIMULATED if is_simulated else CUSTODY_DEPOSITS
    lines = [
        EntryLine(custody, asset_id, -amount_atomic, "principal"),
        EntryLine(HELD, asset_id, amount_atomic, "principal", store_id),
    ]
    return post(
        Posting(keys.DEPOSIT.of(deposit_id), "deposit_confirmed", mode, payment_id, at, lines)
    )


def simulated_deposit_changed(
    *,
    store_id: uuid.UUID,
    mode: str,
    asset_id: str,
    deposit_id: uuid.UUID,
    payment_id: uuid.UUID,
    grown_atomic: int,
    at: datetime,
) -> Posted:
    """A simulated deposit that was booked has been given another amount."""
    lines = [
        EntryLine(CUSTODY_SIMULATED, asset_id, -grown_atomic, "principal"),
        EntryLine(HELD, asset_id, grown_atomic, "principal", store_id),
    ]
    return post(
        Posting(
            keys.DEPOSIT.of(deposit_id, uuid.uuid4()),
            "simulated_deposit_changed",
            mode,
            payment_id,
            at,
            lines,
        )
    )


class Settled(TypedDict):
    """What a payment received in one asset, and the two fees in it; the rest is the merchant's."""

    store_id: uuid.UUID
    mode: str
    asset_id: str
    payment_id: uuid.UUID
    gross_atomic: int
    service_fee_atomic: int
    platform_fee_atomic: int
    platform_id: NotRequired[uuid.UUID | None]


def payment_settled(*, at: datetime, **of: Unpack[Settled]) -> Posted:
    """A payment is complete: what it received in this asset goes to merchant, service and
    platform."""
    key = keys.SETTLE.of(of["payment_id"], of["asset_id"])
    return post(Posting(key, "payment_settled", of["mode"], of["payment_id"], at, _three_way(of)))


def overpayment_settled(*, deposit_id: uuid.UUID, at: datetime, **of: Unpack[Settled]) -> Posted:
    """More has been confirmed on a completed payment."""
    key = keys.SETTLE.of(of["payment_id"], of["asset_id"], deposit_id)
    return post(
        Posting(key, "overpayment_settled", of["mode"], of["payment_id"], at, _three_way(of))
    )


def late_deposit_accepted(*, deposit_id: uuid.UUID, at: datetime, **of: Unpack[Settled]) -> Posted:
    """The merchant takes a deposit that came too late, as if a payment of that amount had
    completed."""
    return post(
        Posting(
            keys.SETTLE_LATE.of(deposit_id),
            "late_deposit_accepted",
            of["mode"],
            of["payment_id"],
            at,
            _three_way(of),
        )
    )


def _three_way(of: Settled) -> list[EntryLine]:
    store_id = of["store_id"]
    asset_id = of["asset_id"]
    platform_id = of.get("platform_id")
    gross = of["gross_atomic"]
    service_fee = of["service_fee_atomic"]
    platform_fee = of["platform_fee_atomic"]
    net = gross - service_fee - platform_fee
    if min(service_fee, platform_fee, net) < 0 or (platform_fee and platform_id is None):
        raise ValueError(
            "the shares of a payment are never negative, and a platform's fee has a platform"
        )
    return [
        EntryLine(HELD, asset_id, -gross, "gross", store_id),
        EntryLine(AVAILABLE, asset_id, net, "net", store_id),
        EntryLine(SERVICE_FEES, asset_id, service_fee, "service_fee"),
        EntryLine(AVAILABLE, asset_id, platform_fee, "platform_fee", platform_id),
    ]
