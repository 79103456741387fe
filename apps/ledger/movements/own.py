"""The service's own coins: sweeps, their gas, cold storage, the operator's earnings, test payments,
and corrections by staff."""

import uuid
from datetime import datetime
from typing import Unpack

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
from apps.ledger.movements.lines import PaidMove, ServiceMove, gas, gas_of, principal
from apps.ledger.posting import EntryLine, Posted, Posting, post
from apps.stores import audit


def sweep_confirmed(*, tx_hash: str, kept_atomic: int = 0, **of: Unpack[PaidMove]) -> Posted:
    """Deposits have been brought to the hot wallet; the deposit addresses paid the gas, and what
    the token has kept of the transfer."""
    key = keys.SWEEP.of(tx_hash)
    lines = [*principal(of, CUSTODY_HOT, CUSTODY_DEPOSITS), *gas_of(of, CUSTODY_DEPOSITS)]
    lines += gas(of["asset_id"], kept_atomic, CUSTODY_DEPOSITS)
    return post(Posting(key, "sweep_confirmed", of["mode"], None, of["at"], lines))


def sweep_gas_sent(*, tx_hash: str, gas_atomic: int, **of: Unpack[ServiceMove]) -> Posted:
    """The hot wallet has sent a deposit address the gas for its sweep."""
    key = keys.SWEEP_GAS.of(tx_hash)
    lines = [
        *principal(of, CUSTODY_DEPOSITS, CUSTODY_HOT),
        *gas(of["asset_id"], gas_atomic, CUSTODY_HOT),
    ]
    return post(Posting(key, "sweep_gas_sent", of["mode"], None, of["at"], lines))


def cold_transfer_sent(*, outgoing_id: uuid.UUID, **of: Unpack[PaidMove]) -> Posted:
    """The hot wallet has sent coins to cold storage; nothing but gas when it was reverted. They are
    owed to whom they were before."""
    key = keys.COLD.of(outgoing_id)
    lines = [*principal(of, CUSTODY_COLD, CUSTODY_HOT), *gas_of(of, CUSTODY_HOT)]
    return post(Posting(key, "cold_transfer_sent", of["mode"], outgoing_id, of["at"], lines))


def cold_returned_key(tx_hash: str, asset_id: str) -> str:
    return keys.COLD_RETURNED.of(tx_hash, asset_id)


def cold_returned(*, tx_hash: str, **of: Unpack[ServiceMove]) -> Posted:
    """Coins have come back to the hot wallet from cold storage, whose owner paid the gas."""
    key = cold_returned_key(tx_hash, of["asset_id"])
    lines = principal(of, CUSTODY_HOT, CUSTODY_COLD)
    return post(Posting(key, "cold_returned", of["mode"], None, of["at"], lines))


def withdrawal_created(*, withdrawal_id: uuid.UUID, **of: Unpack[ServiceMove]) -> Posted:
    """Earnings that the operator takes out are set aside."""
    key = keys.WITHDRAWAL.of(withdrawal_id)
    lines = principal(of, SERVICE_FEES, WITHDRAWAL_CLEARING)
    return post(Posting(key, "withdrawal_created", of["mode"], withdrawal_id, of["at"], lines))


def withdrawal_confirmed(*, withdrawal_id: uuid.UUID, **of: Unpack[PaidMove]) -> Posted:
    """The operator has them, and their gas is paid."""
    key = keys.WITHDRAWAL_CONFIRMED.of(withdrawal_id)
    lines = [*principal(of, WITHDRAWAL_CLEARING, CUSTODY_HOT), *gas_of(of, CUSTODY_HOT)]
    return post(Posting(key, "withdrawal_confirmed", of["mode"], withdrawal_id, of["at"], lines))


def withdrawal_released(*, withdrawal_id: uuid.UUID, **of: Unpack[PaidMove]) -> Posted:
    """They could not be sent, and are earnings again. A transfer that the chain reverted has paid
    gas."""
    key = keys.WITHDRAWAL_RELEASED.of(withdrawal_id)
    lines = [*principal(of, WITHDRAWAL_CLEARING, SERVICE_FEES), *gas_of(of, CUSTODY_HOT)]
    return post(Posting(key, "withdrawal_released", of["mode"], withdrawal_id, of["at"], lines))


def attempt_gas_paid(
    *, mode: str, outgoing_id: uuid.UUID, gas_asset_id: str, gas_atomic: int, at: datetime
) -> Posted:
    """A transfer cost gas and moved nothing, and it is asked for again."""
    lines = gas(gas_asset_id, gas_atomic, CUSTODY_HOT)
    key = keys.ATTEMPT_GAS.of(outgoing_id)
    return post(Posting(key, "attempt_gas_paid", mode, outgoing_id, at, lines))


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


def test_payment_sent(*, test_payment_id: uuid.UUID, **of: Unpack[PaidMove]) -> Posted:
    """The test wallet has paid a test intent out of the service's own float; nothing but gas when
    it was reverted."""
    key = keys.TEST_PAYMENT.of(test_payment_id)
    lines = [*principal(of, TREASURY, CUSTODY_HOT), *gas_of(of, CUSTODY_HOT)]
    return post(Posting(key, "test_payment_sent", of["mode"], test_payment_id, of["at"], lines))


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
