"""The service's own coins: sweeps, their gas, cold storage, the operator's earnings, test payments,
and corrections by staff."""

import uuid
from typing import Unpack

from django.db import transaction

from apps.ledger import keys
from apps.ledger.chart import CHART, HELD, STORE, TREASURY
from apps.ledger.movements.lines import (
    Occasion,
    Owners,
    PaidMove,
    ServiceMove,
    coins,
    gas_of,
    moved,
    posting_of,
)
from apps.ledger.posting import Posted, Posting, post
from apps.stores.auditing import audit


def sweep_confirmed(
    *,
    tx_hash: str,
    kept_atomic: int = 0,
    part_id: uuid.UUID | None = None,
    **of: Unpack[PaidMove],
) -> Posted:
    """`kept_atomic` is what the token itself has kept of the transfer. A transaction that spends
    coins, or carries out a batch, brings those of several addresses, each by a sweep of its own
    (`part_id`)."""
    token_fee = coins(of["asset_id"], kept_atomic)
    parts = [tx_hash] if part_id is None else [tx_hash, part_id]
    return post(posting_of("sweep_confirmed", parts, None, of, moved(of), gas_of(of), token_fee))


def sweep_gas_sent(*, tx_hash: str, gas_atomic: int, **of: Unpack[ServiceMove]) -> Posted:
    gas = coins(of["asset_id"], gas_atomic)
    return post(posting_of("sweep_gas_sent", [tx_hash], None, of, moved(of), gas))


def coins_joined(
    *, outgoing_id: uuid.UUID, gas_asset_id: str, gas_atomic: int, **occasion: Unpack[Occasion]
) -> Posted:
    gas = coins(gas_asset_id, gas_atomic)
    return post(posting_of("coins_joined", [outgoing_id], outgoing_id, occasion, gas))


def cold_transfer_sent(*, outgoing_id: uuid.UUID, **of: Unpack[PaidMove]) -> Posted:
    """The coins are owed to whom they were owed before."""
    return post(_paid("cold_transfer_sent", outgoing_id, of))


def cold_returned_key(tx_hash: str, asset_id: str) -> str:
    return keys.COLD_RETURNED.of(tx_hash, asset_id)


def cold_returned(*, tx_hash: str, fee_atomic: int = 0, **of: Unpack[ServiceMove]) -> Posted:
    """`fee_atomic` is what the network took of the same coins on their way."""
    fee = coins(of["asset_id"], fee_atomic)
    return post(posting_of("cold_returned", [tx_hash, of["asset_id"]], None, of, moved(of), fee))


def withdrawal_created(*, withdrawal_id: uuid.UUID, **of: Unpack[ServiceMove]) -> Posted:
    return post(posting_of("withdrawal_created", [withdrawal_id], withdrawal_id, of, moved(of)))


def withdrawal_confirmed(*, withdrawal_id: uuid.UUID, **of: Unpack[PaidMove]) -> Posted:
    return post(_paid("withdrawal_confirmed", withdrawal_id, of))


def withdrawal_released(*, withdrawal_id: uuid.UUID, **of: Unpack[PaidMove]) -> Posted:
    return post(_paid("withdrawal_released", withdrawal_id, of))


def attempt_gas_paid(
    *,
    outgoing_id: uuid.UUID,
    gas_asset_id: str,
    gas_atomic: int,
    **occasion: Unpack[Occasion],
) -> Posted:
    gas = coins(gas_asset_id, gas_atomic)
    return post(posting_of("attempt_gas_paid", [outgoing_id], outgoing_id, occasion, gas))


def mined_again(
    *,
    outgoing_id: uuid.UUID,
    time: int,
    gas_asset_id: str,
    gas_atomic: int,
    paid_from: str,
    received_asset_id: str = "",
    received_atomic: int = 0,
    **occasion: Unpack[Occasion],
) -> Posted:
    """Gas and coins are what it cost and brought beyond what was booked, or less."""
    return post(
        posting_of(
            "mined_again",
            [outgoing_id, time],
            None,
            occasion,
            coins(gas_asset_id, gas_atomic),
            coins(received_asset_id, received_atomic),
            using=[paid_from],
        )
    )


def test_payment_sent(*, test_payment_id: uuid.UUID, **of: Unpack[PaidMove]) -> Posted:
    return post(_paid("test_payment_sent", test_payment_id, of))


def _paid(name: str, id: uuid.UUID, of: PaidMove) -> Posting:
    """A transfer of the service's own, and its gas."""
    return posting_of(name, [id], id, of, moved(of), gas_of(of))


def correction_key(key: str) -> str:
    return keys.CORRECTION.of(key)


def correction(
    *,
    key: str,
    asset_id: str,
    kind: str,
    store_id: uuid.UUID | None,
    amount_atomic: int,
    reason: str,
    staff_id: uuid.UUID,
    payment_id: uuid.UUID | None = None,
    request_id: uuid.UUID | None = None,
    **occasion: Unpack[Occasion],
) -> Posted:
    """Post a correction and write it into the audit log.

    What is held is corrected for the payment that it is held for. `request_id` is the staff request
    that two decided; only what the chain has brought a hot wallet needs none.
    """
    if not reason.strip():
        raise ValueError("a correction has a reason")
    if (
        kind not in CHART
        or kind == TREASURY
        or (CHART[kind].owner == STORE) != (store_id is not None)
    ):
        raise ValueError(f"{kind} can't be corrected")
    if (kind == HELD) != (payment_id is not None):
        raise ValueError("what is held is corrected for its payment, and nothing else is")
    posting = posting_of(
        "correction",
        [key],
        payment_id,
        occasion,
        coins(asset_id, -amount_atomic),
        owners=Owners(store_id),
        using=[kind],
        reason=reason,
        staff_id=staff_id,
    )
    with transaction.atomic():
        posted = post(posting)
        if posted.is_new:
            details = {
                "movement": posted.movement_id,
                "account": kind,
                "asset": asset_id,
                "amount_atomic": amount_atomic,
                "staff": staff_id,
            }
            if payment_id is not None:
                details["payment"] = payment_id
            if request_id is not None:
                details["request"] = request_id
            audit.record(
                "books.corrected",
                store=store_id,
                mode=occasion["mode"],
                name=asset_id,
                reason=reason,
                details=details,
            )
    return posted
