"""The service's own coins: sweeps, their gas, cold storage, the operator's earnings, test payments,
and corrections by staff."""

import uuid
from datetime import datetime

from django.db import transaction

from apps.ledger import keys
from apps.ledger.chart import (
    CHART,
    CUSTODY_COLD,
    CUSTODY_DEPOSITS,
    CUSTODY_HOT,
    HELD,
    SERVICE_FEES,
    STORE,
    SWAP_CLEARING,
    TREASURY,
    WITHDRAWAL_CLEARING,
)
from apps.ledger.movements.lines import gas
from apps.ledger.posting import EntryLine, Posted, Posting, post
from apps.stores import audit


def sweep_confirmed(
    *,
    mode: str,
    asset_id: str,
    tx_hash: str,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """Deposits have been brought to the hot wallet; the deposit addresses paid the gas."""
    lines = [
        EntryLine(CUSTODY_DEPOSITS, asset_id, amount_atomic, "principal"),
        EntryLine(CUSTODY_HOT, asset_id, -amount_atomic, "principal"),
        *gas(gas_asset_id, gas_atomic, CUSTODY_DEPOSITS),
    ]
    return post(Posting(keys.SWEEP.of(tx_hash), "sweep_confirmed", mode, None, at, lines))


def sweep_gas_sent(
    *, mode: str, asset_id: str, tx_hash: str, amount_atomic: int, gas_atomic: int, at: datetime
) -> Posted:
    """The hot wallet has sent a deposit address the gas for its sweep."""
    lines = [
        EntryLine(CUSTODY_HOT, asset_id, amount_atomic, "principal"),
        EntryLine(CUSTODY_DEPOSITS, asset_id, -amount_atomic, "principal"),
        *gas(asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(Posting(keys.SWEEP_GAS.of(tx_hash), "sweep_gas_sent", mode, None, at, lines))


def cold_transfer_sent(
    *,
    mode: str,
    asset_id: str,
    outgoing_id: uuid.UUID,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """The hot wallet has sent coins to cold storage; nothing but gas when it was reverted. They are
    owed to whom they were before."""
    lines = [
        EntryLine(CUSTODY_HOT, asset_id, amount_atomic, "principal"),
        EntryLine(CUSTODY_COLD, asset_id, -amount_atomic, "principal"),
        *gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(
        Posting(keys.COLD.of(outgoing_id), "cold_transfer_sent", mode, outgoing_id, at, lines)
    )


def cold_returned_key(tx_hash: str, asset_id: str) -> str:
    return keys.COLD_RETURNED.of(tx_hash, asset_id)


def cold_returned(
    *, mode: str, asset_id: str, tx_hash: str, amount_atomic: int, at: datetime
) -> Posted:
    """Coins have come back to the hot wallet from cold storage, whose owner paid the gas."""
    lines = [
        EntryLine(CUSTODY_COLD, asset_id, amount_atomic, "principal"),
        EntryLine(CUSTODY_HOT, asset_id, -amount_atomic, "principal"),
    ]
    return post(
        Posting(cold_returned_key(tx_hash, asset_id), "cold_returned", mode, None, at, lines)
    )


def withdrawal_created(
    *, mode: str, asset_id: str, withdrawal_id: uuid.UUID, amount_atomic: int, at: datetime
) -> Posted:
    """Earnings that the operator takes out are set aside."""
    return post(
        Posting(
            keys.WITHDRAWAL.of(withdrawal_id),
            "withdrawal_created",
            mode,
            withdrawal_id,
            at,
            _earned(asset_id, amount_atomic),
        )
    )


def withdrawal_confirmed(
    *,
    mode: str,
    asset_id: str,
    withdrawal_id: uuid.UUID,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """The operator has them, and their gas is paid."""
    lines = [
        EntryLine(WITHDRAWAL_CLEARING, asset_id, -amount_atomic, "principal"),
        EntryLine(CUSTODY_HOT, asset_id, amount_atomic, "principal"),
        *gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(
        Posting(
            keys.WITHDRAWAL_CONFIRMED.of(withdrawal_id),
            "withdrawal_confirmed",
            mode,
            withdrawal_id,
            at,
            lines,
        )
    )


def withdrawal_released(
    *,
    mode: str,
    asset_id: str,
    withdrawal_id: uuid.UUID,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """They could not be sent, and are earnings again. A transfer that the chain reverted has paid
    gas."""
    lines = [*_earned(asset_id, -amount_atomic), *gas(gas_asset_id, gas_atomic, CUSTODY_HOT)]
    return post(
        Posting(
            keys.WITHDRAWAL_RELEASED.of(withdrawal_id),
            "withdrawal_released",
            mode,
            withdrawal_id,
            at,
            lines,
        )
    )


def _earned(asset_id: str, amount_atomic: int) -> list[EntryLine]:
    """Out of the earnings, below zero back into them."""
    return [
        EntryLine(SERVICE_FEES, asset_id, -amount_atomic, "principal"),
        EntryLine(WITHDRAWAL_CLEARING, asset_id, amount_atomic, "principal"),
    ]


def mined_again(
    *,
    mode: str,
    outgoing_id: uuid.UUID,
    time: int,
    gas_asset_id: str,
    gas_atomic: int,
    paid_from: str,
    received_asset_id: str = "",
    received_atomic: int = 0,
    at: datetime,
) -> Posted:
    """A reorg undid a transaction of ours and it was mined again: what it cost and brought more
    than was booked, or less."""
    lines = gas(gas_asset_id, gas_atomic, paid_from)
    if received_asset_id:
        lines += [
            EntryLine(CUSTODY_HOT, received_asset_id, -received_atomic, "principal"),
            EntryLine(SWAP_CLEARING, received_asset_id, received_atomic, "principal"),
        ]
    return post(
        Posting(keys.MINED_AGAIN.of(outgoing_id, time), "mined_again", mode, None, at, lines)
    )


def test_payment_sent(
    *,
    mode: str,
    asset_id: str,
    test_payment_id: uuid.UUID,
    amount_atomic: int,
    gas_asset_id: str,
    gas_atomic: int,
    at: datetime,
) -> Posted:
    """The test wallet has paid a test intent out of the service's own float; nothing but gas when
    it was reverted."""
    lines = [
        EntryLine(TREASURY, asset_id, -amount_atomic, "principal"),
        EntryLine(CUSTODY_HOT, asset_id, amount_atomic, "principal"),
        *gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(
        Posting(
            keys.TEST_PAYMENT.of(test_payment_id),
            "test_payment_sent",
            mode,
            test_payment_id,
            at,
            lines,
        )
    )


def correction_key(key: str) -> str:
    return keys.CORRECTION.of(key)


def correction(
    *,
    key: str,
    mode: str,
    asset_id: str,
    kind: str,
    store_id: uuid.UUID | None,
    amount_atomic: int,
    reason: str,
    staff_id: uuid.UUID,
    at: datetime,
    payment_id: uuid.UUID | None = None,
    request_id: uuid.UUID | None = None,
) -> Posted:
    """Staff put something right, always against the treasury, with a reason and a line in the audit
    log.

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
    lines = [
        EntryLine(kind, asset_id, amount_atomic, "principal", store_id),
        EntryLine(TREASURY, asset_id, -amount_atomic, "principal"),
    ]
    with transaction.atomic():
        posted = post(
            Posting(
                correction_key(key), "correction", mode, payment_id, at, lines, reason, staff_id
            )
        )
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
                mode=mode,
                name=asset_id,
                reason=reason,
                details=details,
            )
    return posted
