"""Unmatched transfers on their way back: asked of the sender once, and followed to their end like
refunds.

One that fails for good is held for its payment again, and the store decides anew.
"""

import uuid
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Q

from apps.assets.selectors import native_asset_id
from apps.chain import simulated
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import attempts, sender
from apps.chain.services import reopen_unmatched
from apps.core import clock
from apps.core.machine import Step
from apps.core.rows import Job
from apps.ledger import movements
from apps.payments.models import TransferReturn
from apps.payments.services.refund_progress import book_gas
from apps.payments.states import RETURN_MACHINE

LOOKS_AT = (TransferReturn,)
JOB = Job("payments.advance_transfer_returns", limit=100)
OPEN = ("pending", "submitted")
_Sent = OutgoingTransaction.Status


def booking_of(row: TransferReturn, at: datetime) -> movements.Returned:
    """What every movement of it names."""
    return {
        "store_id": row.store_id,
        "mode": row.mode,
        "asset_id": row.asset_id,
        "payment_id": row.payment_id,
        "return_id": row.pk,
        "amount_atomic": row.amount_atomic,
        "at": at,
    }


def advance_returns(mode: str = "") -> int:
    """The sweep (of a mode): move every open one a step; how many there were."""
    rows = TransferReturn.objects.filter(status__in=OPEN).order_by("created_at")
    rows = rows.filter(mode=mode) if mode else rows
    return JOB.walk(rows.values_list("pk", flat=True), advance_return, mode=mode)


def advance_return(return_id: uuid.UUID) -> TransferReturn:
    """One return, under its lock; one that has ended stays as it is."""
    with transaction.atomic():
        rows = TransferReturn.objects.select_for_update(of=("self",)).select_related(
            "asset__chain", "store"
        )
        row: TransferReturn = rows.get(pk=return_id)
        if row.status not in OPEN:
            return row
        at = clock.now(row.store, row.mode)
        if row.is_simulated:
            _advance_simulated(row, at)
        else:
            _advance_on_chain(row, at)
        return row


def _advance_simulated(row: TransferReturn, at: datetime) -> None:
    real = clock.real_now()
    if row.status == "pending":
        _submit(row, simulated.new_hash(), at, real)
    if row.status == "submitted" and simulated.has_arrived(
        row.submitted_at, row.submitted_real_at, at, real
    ):
        _confirm(row, at, gas_atomic=0)


def _advance_on_chain(row: TransferReturn, at: datetime) -> None:
    real = clock.real_now()
    transaction = attempts.newest(partial(_ask, row), row.pk, partial(book_gas, at=at))
    if transaction.status in (_Sent.SUBMITTED, _Sent.CONFIRMED) and row.status == "pending":
        _submit(row, transaction.tx_hash, at, real)
    elif transaction.status == _Sent.SUBMITTED and attempts.number_of(transaction):
        TransferReturn.objects.filter(pk=row.pk).update(tx_hash=transaction.tx_hash)
    if transaction.status == _Sent.CONFIRMED:
        TransferReturn.objects.filter(pk=row.pk).update(tx_hash=transaction.tx_hash)
        _confirm(row, at, gas_atomic=transaction.network_fee_atomic)
        sender.mark_handled(transaction)
    elif transaction.status == _Sent.FAILED:
        _fail(
            row,
            transaction.reason or "The transaction failed",
            at,
            gas_atomic=transaction.network_fee_atomic,
        )
        sender.mark_handled(transaction)


def _ask(row: TransferReturn, reference: str) -> OutgoingTransaction:
    return sender.request(
        chain_id=row.asset.chain_id,
        asset_id=row.asset_id,
        to=row.destination_address,
        amount_atomic=row.amount_atomic,
        purpose=OutgoingTransaction.Purpose.REFUND,
        reference=reference,
        mode=row.mode,
        store_id=row.store_id,
        at=clock.real_now(),
    )


def _submit(row: TransferReturn, tx_hash: str, at: datetime, real: datetime) -> None:
    columns = {"tx_hash": tx_hash, "submitted_at": at, "submitted_real_at": real}
    RETURN_MACHINE.change_status(row, Step("submitted"), at=at, updated_at=at, **columns)


def _confirm(row: TransferReturn, at: datetime, *, gas_atomic: int) -> None:
    if RETURN_MACHINE.change_status(row, Step("confirmed"), at=at, updated_at=at):
        movements.transfer_return_confirmed(
            gas_asset_id=native_asset_id(row.asset),
            gas_atomic=gas_atomic,
            is_simulated=row.is_simulated,
            **booking_of(row, at),
        )


def _fail(row: TransferReturn, reason: str, at: datetime, *, gas_atomic: int) -> None:
    """It moved nothing and never will. A reverted one has paid its gas."""
    if not RETURN_MACHINE.change_status(
        row, Step("failed"), at=at, failure_reason=reason[:200], updated_at=at
    ):
        return
    movements.transfer_return_released(
        gas_asset_id=native_asset_id(row.asset), gas_atomic=gas_atomic, **booking_of(row, at)
    )
    reopen_unmatched(row.transfer_id)


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """When the store's next simulated one moves by its test clock."""
    rows = TransferReturn.objects.filter(store_id=store_id, mode="test", is_simulated=True)
    moments = list(rows.filter(status="pending").values_list("created_at", flat=True))
    submitted = rows.filter(status="submitted").values_list("submitted_at", flat=True)
    moments += [moment + simulated.UNDER_WAY for moment in submitted if moment is not None]
    return min((moment for moment in moments if after is None or moment > after), default=None)


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    rows = TransferReturn.objects.filter(store_id=store_id, mode="test", is_simulated=True)
    due = rows.filter(
        Q(status="pending") | Q(status="submitted", submitted_at__lte=now - simulated.UNDER_WAY)
    )
    for return_id in list(due.order_by("created_at").values_list("pk", flat=True)):
        advance_return(return_id)
