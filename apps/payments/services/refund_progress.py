"""Refunds on their way: asked of the sender once, followed to their end, and what a confirmed one
does to its payment.

A refund of simulated coins is simulated: submitted, then confirmed when apps.chain.simulated says
that it has arrived.
"""

import uuid
from datetime import datetime
from functools import partial
from typing import TypedDict

from django.db import transaction
from django.db.models import Q

from apps.assets.selectors import native_asset_id
from apps.chain import simulated
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import attempts, sender
from apps.core import clock, jobs, money
from apps.core.machine import Step
from apps.core.rows import Job
from apps.ledger import movements
from apps.payments import states
from apps.payments.models import Payment, Refund
from apps.payments.selectors import received_by
from apps.payments.services import attention, held_progress, held_refunds
from apps.payments.services.change_status import change_status, locked_payment

LOOKS_AT = (Refund,)
OPEN = ("pending", "submitted")
JOB = Job("payments.advance_refunds", limit=100)
PURPOSE = OutgoingTransaction.Purpose.REFUND
_Sent = OutgoingTransaction.Status


def advance_refunds(mode: str = "") -> int:
    """The sweep (of a mode): move every open refund one step; how many there were. Whom nobody has
    looked at yet is looked at before."""
    held_progress.check_due(mode)
    open_ones = Refund.objects.filter(status__in=OPEN).order_by("created_at")
    open_ones = open_ones.filter(mode=mode) if mode else open_ones
    return JOB.walk(open_ones.values_list("pk", flat=True), advance_refund, mode=mode)


def advance_refund(refund_id: uuid.UUID) -> Refund:
    """One refund, under the lock of its payment; one that has ended stays as it is."""
    with transaction.atomic():
        payment_id = Refund.objects.values_list("payment_id", flat=True).get(pk=refund_id)
        payment = locked_payment(payment_id)
        refund: Refund = (
            Refund.objects.select_for_update(of=("self",))
            .select_related("asset__chain")
            .get(pk=refund_id)
        )
        if refund.status not in OPEN:
            return refund
        at = clock.now(payment.store, payment.mode)
        if refund.is_simulated:
            _advance_simulated(payment, refund, at)
        else:
            _advance_on_chain(payment, refund, at)
        return refund


def _advance_simulated(payment: Payment, refund: Refund, at: datetime) -> None:
    real = clock.real_now()
    if refund.status == Refund.Status.PENDING:
        _submit(refund, simulated.new_hash(), at, real)
    if refund.status == Refund.Status.SUBMITTED and simulated.has_arrived(
        refund.submitted_at, refund.submitted_real_at, at, real
    ):
        _confirm(payment, refund, at, gas_atomic=0)


def _advance_on_chain(payment: Payment, refund: Refund, at: datetime) -> None:
    """Ask once per attempt, then follow what the sender says of it."""
    transfer = attempts.newest(partial(_ask, refund), refund.pk, partial(book_gas, at=at))
    if transfer.status in (_Sent.SUBMITTED, _Sent.CONFIRMED):
        if refund.status == Refund.Status.PENDING:
            _submit(refund, transfer.tx_hash, at, clock.real_now())
        elif attempts.number_of(transfer) >= refund.attempts:
            refund.attempts = attempts.number_of(transfer) + 1
            Refund.objects.filter(pk=refund.pk).update(
                tx_hash=transfer.tx_hash, attempts=refund.attempts
            )
    if transfer.status == _Sent.CONFIRMED:
        Refund.objects.filter(pk=refund.pk).update(tx_hash=transfer.tx_hash)
        _confirm(payment, refund, at, gas_atomic=transfer.network_fee_atomic)
        sender.mark_handled(transfer)
    elif transfer.status == _Sent.FAILED:
        _fail(
            payment,
            refund,
            transfer.reason or "The transaction failed",
            at,
            gas_atomic=transfer.network_fee_atomic,
        )
        sender.mark_handled(transfer)


def _ask(refund: Refund, reference: str) -> OutgoingTransaction:
    return sender.request(
        chain_id=refund.asset.chain_id,
        asset_id=refund.asset_id,
        to=refund.destination_address,
        amount_atomic=refund.amount_atomic,
        purpose=PURPOSE,
        reference=reference,
        mode=refund.mode,
        store_id=refund.store_id,
        at=clock.real_now(),
    )


def book_gas(transfer: OutgoingTransaction, at: datetime) -> None:
    """Book the fee of an attempt that failed."""
    movements.attempt_gas_paid(
        mode=transfer.mode,
        outgoing_id=transfer.pk,
        gas_asset_id=native_asset_id(transfer.asset),
        gas_atomic=transfer.network_fee_atomic,
        at=at,
    )


def _submit(refund: Refund, tx_hash: str, at: datetime, real: datetime) -> None:
    columns = {
        "tx_hash": tx_hash,
        "attempts": refund.attempts + 1,
        "submitted_at": at,
        "submitted_real_at": real,
    }
    states.REFUND_MACHINE.change_status(refund, Step("submitted"), at=at, updated_at=at, **columns)


class _Booking(TypedDict):
    """What both movements of a refund name."""

    store_id: uuid.UUID
    mode: str
    asset_id: str
    payment_id: uuid.UUID
    refund_id: uuid.UUID
    amount_atomic: int
    gas_asset_id: str
    at: datetime


def _booking(refund: Refund, at: datetime) -> _Booking:
    return {
        "store_id": refund.store_id,
        "mode": refund.mode,
        "asset_id": refund.asset_id,
        "payment_id": refund.payment_id,
        "refund_id": refund.pk,
        "amount_atomic": refund.amount_atomic,
        "gas_asset_id": native_asset_id(refund.asset),
        "at": at,
    }


def _confirm(payment: Payment, refund: Refund, at: datetime, *, gas_atomic: int) -> None:
    """Book it, give back the platform's share, and move the payment to refunded with the first
    one."""
    if not states.REFUND_MACHINE.change_status(refund, Step("confirmed"), at=at, updated_at=at):
        return
    movements.refund_confirmed(
        **_booking(refund, at), gas_atomic=gas_atomic, is_simulated=refund.is_simulated
    )
    if payment.platform_id and payment.platform_fee_fraction and not refund.is_from_held:
        movements.platform_fee_returned(
            store_id=refund.store_id,
            mode=refund.mode,
            asset_id=refund.asset_id,
            payment_id=payment.pk,
            refund_id=refund.pk,
            platform_id=payment.platform_id,
            share_atomic=money.fee_of(refund.amount_atomic, payment.platform_fee_fraction),
            at=at,
        )
    _note_on_payment(payment, at)


def _note_on_payment(payment: Payment, at: datetime) -> None:
    refund_state = "full" if _is_all_back(payment) else "partial"
    if payment.status != states.REFUNDED:
        refunded = states.PaymentDecision(
            states.REFUNDED, states.REFUND_COMPLETED, states.EVENTS[states.REFUNDED]
        )
        change_status(payment, refunded, at=at, refund_state=refund_state)
    else:
        payment.refund_state = refund_state
        payment.updated_at = at
        payment.reconciliation_due = True
        payment.save(update_fields=["refund_state", "updated_at", "reconciliation_due"])
    jobs.announce("payments.received_changed", payment.pk)


def _is_all_back(payment: Payment) -> bool:
    for intake in received_by(payment):
        confirmed = sum(
            deposit.amount_atomic
            for deposit in intake.deposits
            if deposit.status == deposit.Status.CONFIRMED
        )
        rows = Refund.objects.filter(
            payment=payment, asset_id=intake.address.asset_id, status="confirmed"
        )
        if sum(rows.values_list("amount_atomic", flat=True)) < confirmed:
            return False
    return True


def _fail(payment: Payment, refund: Refund, reason: str, at: datetime, *, gas_atomic: int) -> None:
    """It moved nothing and never will: the coins go back to where they came from. A reverted one
    has paid its gas."""
    if not states.REFUND_MACHINE.change_status(
        refund, Step("failed"), at=at, failure_reason=reason[:200], updated_at=at
    ):
        return
    attention.refund_failed(payment, refund, reason)
    movements.refund_released(
        **_booking(refund, at), gas_atomic=gas_atomic, is_to_held=refund.is_from_held
    )
    held_refunds.take_back(payment, refund, at)


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """When the store's next simulated refund moves by its test clock: a new one at once, a
    submitted one after its minute."""
    rows = Refund.objects.filter(store_id=store_id, mode="test", is_simulated=True)
    moments = [*rows.filter(status="pending").values_list("created_at", flat=True)]
    submitted = rows.filter(status="submitted").values_list("submitted_at", flat=True)
    moments += [moment + simulated.UNDER_WAY for moment in submitted if moment is not None]
    return min((moment for moment in moments if after is None or moment > after), default=None)


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    rows = Refund.objects.filter(store_id=store_id, mode="test", is_simulated=True)
    limit = now - simulated.UNDER_WAY
    due = rows.filter(
        Q(status="pending") | Q(status="submitted", submitted_at__lte=limit)
    ).order_by("created_at")
    for refund_id in list(due.values_list("pk", flat=True)):
        advance_refund(refund_id)
