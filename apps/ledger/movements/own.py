"""The service's own coins: sweeps, their gas, test payments, and corrections by staff."""

import uuid
from datetime import datetime

from django.db import transaction

from apps.ledger.chart import CHART, CUSTODY_DEPOSITS, CUSTODY_HOT, HELD, STORE, SWAP_CLEARING, TREASURY
from apps.ledger.movements.lines import gas
from apps.ledger.posting import Line, Posted, Posting, post
from apps.stores import audit


def sweep_confirmed(
    *, mode: str, asset_id: str, tx_hash: str, amount_atomic: int, gas_asset_id: str, gas_atomic: int, at: datetime
) -> Posted:
    """Deposits have been brought to the hot wallet; the deposit addresses paid the gas."""
    lines = [
        Line(CUSTODY_DEPOSITS, asset_id, amount_atomic, "principal"),
        Line(CUSTODY_HOT, asset_id, -amount_atomic, "principal"),
        *gas(gas_asset_id, gas_atomic, CUSTODY_DEPOSITS),
    ]
    return post(Posting(f"sweep:{tx_hash}", "sweep_confirmed", mode, None, at, lines))


def sweep_gas_sent(*, mode: str, asset_id: str, tx_hash: str, amount_atomic: int, gas_atomic: int, at: datetime) -> Posted:
    """The hot wallet has sent a deposit address the gas for its sweep."""
    lines = [
        Line(CUSTODY_HOT, asset_id, amount_atomic, "principal"),
        Line(CUSTODY_DEPOSITS, asset_id, -amount_atomic, "principal"),
        *gas(asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(Posting(f"sweep-gas:{tx_hash}", "sweep_gas_sent", mode, None, at, lines))


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
    """A reorg undid a transaction of ours and it was mined again: what it cost and brought more than was booked, or less."""
    lines = gas(gas_asset_id, gas_atomic, paid_from)
    if received_asset_id:
        lines += [
            Line(CUSTODY_HOT, received_asset_id, -received_atomic, "principal"),
            Line(SWAP_CLEARING, received_asset_id, received_atomic, "principal"),
        ]
    return post(Posting(f"mined-again:{outgoing_id}:{time}", "mined_again", mode, None, at, lines))


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
    """The test wallet has paid a test intent out of the service's own float; nothing but gas when it was reverted."""
    lines = [
        Line(TREASURY, asset_id, -amount_atomic, "principal"),
        Line(CUSTODY_HOT, asset_id, amount_atomic, "principal"),
        *gas(gas_asset_id, gas_atomic, CUSTODY_HOT),
    ]
    return post(Posting(f"test-payment:{test_payment_id}", "test_payment_sent", mode, test_payment_id, at, lines))


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
) -> Posted:
    """Staff put something right, always against the treasury, with a reason and a line in the audit log.

    What is held is corrected for the payment that it is held for.
    """
    if not reason.strip():
        raise ValueError("a correction has a reason")
    if kind not in CHART or kind == TREASURY or (CHART[kind].owner == STORE) != (store_id is not None):
        raise ValueError(f"{kind} can't be corrected")
    if (kind == HELD) != (payment_id is not None):
        raise ValueError("what is held is corrected for its payment, and nothing else is")
    lines = [Line(kind, asset_id, amount_atomic, "principal", store_id), Line(TREASURY, asset_id, -amount_atomic, "principal")]
    with transaction.atomic():
        posted = post(Posting(f"correction:{key}", "correction", mode, payment_id, at, lines, reason, staff_id))
        if posted.is_new:
            told = {"movement": posted.movement_id, "account": kind, "asset": asset_id, "amount_atomic": amount_atomic, "staff": staff_id}
            if payment_id is not None:
                told["payment"] = payment_id
            audit.record("books.corrected", store=store_id, mode=mode, name=asset_id, reason=reason, details=told)
    return posted
