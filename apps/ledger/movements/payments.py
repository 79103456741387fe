"""Deposits that came in, and their settlement in three shares: the merchant's, the service's fee,
the platform's fee."""

import uuid
from datetime import datetime
from typing import NotRequired, TypedDict, Unpack

from apps.ledger.chart import (
    CUSTODY_DEPOSITS,
    CUSTODY_SIMULATED,
    OWN_FEES_DUE,
    OWN_PENDING,
    OWN_RECEIVED,
    OWN_WALLETS,
)
from apps.ledger.movements.lines import (
    Coins,
    Occasion,
    Owners,
    StoreMove,
    coins,
    moved,
    positive_of,
    posting_of,
)
from apps.ledger.posting import Posted, Posting, post


def deposit_confirmed(
    *,
    deposit_id: uuid.UUID,
    payment_id: uuid.UUID,
    is_simulated: bool,
    is_own: bool = False,
    **of: Unpack[StoreMove],
) -> Posted:
    """`is_own` is what came to the merchant's own wallet, simulated or not."""
    custody = CUSTODY_SIMULATED if is_simulated else CUSTODY_DEPOSITS
    return post(
        posting_of(
            "deposit_confirmed",
            [deposit_id],
            payment_id,
            of,
            moved(of),
            owners=Owners(of["store_id"]),
            using=[OWN_WALLETS, OWN_PENDING] if is_own else [custody],
        )
    )


def simulated_deposit_changed(
    *,
    store_id: uuid.UUID,
    asset_id: str,
    deposit_id: uuid.UUID,
    payment_id: uuid.UUID,
    grown_atomic: int,
    is_own: bool = False,
    **occasion: Unpack[Occasion],
) -> Posted:
    return post(
        posting_of(
            "simulated_deposit_changed",
            [deposit_id, uuid.uuid4()],
            payment_id,
            occasion,
            coins(asset_id, grown_atomic),
            owners=Owners(store_id),
            using=[OWN_WALLETS, OWN_PENDING] if is_own else [],
        )
    )


class Settled(TypedDict):
    """A payment's income in one asset, and the two fees in it; the rest is the merchant's."""

    store_id: uuid.UUID
    mode: str
    asset_id: str
    payment_id: uuid.UUID
    gross_atomic: int
    service_fee_atomic: int
    platform_fee_atomic: int
    platform_id: NotRequired[uuid.UUID | None]
    is_own: NotRequired[bool]


def payment_settled(*, at: datetime, **of: Unpack[Settled]) -> Posted:
    key_parts = [of["payment_id"], of["asset_id"]]
    return post(_settled("payment_settled", key_parts, of, at))


def overpayment_settled(*, deposit_id: uuid.UUID, at: datetime, **of: Unpack[Settled]) -> Posted:
    key_parts = [of["payment_id"], of["asset_id"], deposit_id]
    return post(_settled("overpayment_settled", key_parts, of, at))


def late_deposit_accepted(*, deposit_id: uuid.UUID, at: datetime, **of: Unpack[Settled]) -> Posted:
    return post(_settled("late_deposit_accepted", [deposit_id], of, at))


def _settled(name: str, key_parts: list[object], of: Settled, at: datetime) -> Posting:
    platform_id = of.get("platform_id")
    service_fee = of["service_fee_atomic"]
    platform_fee = of["platform_fee_atomic"]
    net = of["gross_atomic"] - service_fee - platform_fee
    if min(service_fee, platform_fee, net) < 0 or (platform_fee and platform_id is None):
        raise ValueError(
            "the shares of a payment are never negative, and a platform's fee has a platform"
        )
    return posting_of(
        name,
        key_parts,
        of["payment_id"],
        {"mode": of["mode"], "at": at},
        coins(of["asset_id"], net, service_fee, platform_fee),
        owners=Owners(of["store_id"], platform_id),
        using=[OWN_PENDING, OWN_RECEIVED, OWN_FEES_DUE] if of.get("is_own") else [],
    )


def own_fees_collected(*, number: int, **of: Unpack[StoreMove]) -> Posted:
    """`number` counts those of a store's asset; the coins are what the store has here."""
    return post(
        posting_of(
            "own_fees_collected",
            [of["store_id"], of["asset_id"], number],
            None,
            of,
            positive_of(of),
            positive_of(of),
            owners=Owners(of["store_id"]),
        )
    )


class OwnParts(TypedDict):
    """Of a deposit to a merchant's own wallet: in which memo accounts its coins are booked."""

    pending_atomic: int
    received_atomic: int
    fees_due_atomic: int


class OwnDeposit(TypedDict):
    store_id: uuid.UUID
    mode: str
    asset_id: str
    deposit_id: uuid.UUID
    payment_id: uuid.UUID
    time: int


def own_deposit_reversed(*, at: datetime, parts: OwnParts, **of: Unpack[OwnDeposit]) -> Posted:
    """`time` counts the losses of a deposit."""
    flows = [coins(of["asset_id"], amount) for amount in _amounts(parts)]
    return post(_own_deposit("own_deposit_reversed", of, at, flows))


def own_deposit_restored(*, at: datetime, parts: OwnParts, **of: Unpack[OwnDeposit]) -> Posted:
    """Undoes the reversal of the same `time`."""
    flows = [coins(of["asset_id"], *_amounts(parts))]
    return post(_own_deposit("own_deposit_restored", of, at, flows))


def _amounts(parts: OwnParts) -> tuple[int, int, int]:
    return parts["pending_atomic"], parts["received_atomic"], parts["fees_due_atomic"]


def _own_deposit(name: str, of: OwnDeposit, at: datetime, flows: list[Coins]) -> Posting:
    return posting_of(
        name,
        [of["deposit_id"], of["time"]],
        of["payment_id"],
        {"mode": of["mode"], "at": at},
        *flows,
        owners=Owners(of["store_id"]),
    )


def own_fees_paid(
    *, invoice: str, staff_id: uuid.UUID, reason: str, **of: Unpack[StoreMove]
) -> Posted:
    """By an invoice, once."""
    return post(
        posting_of(
            "own_fees_paid",
            [of["store_id"], of["asset_id"], invoice],
            None,
            of,
            positive_of(of),
            owners=Owners(of["store_id"]),
            reason=reason,
            staff_id=staff_id,
        )
    )
