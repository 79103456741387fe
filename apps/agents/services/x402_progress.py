"""Signed payments on their way: asked of the sender once, followed to their end. What the chain
hasn't told stays unknown.

The payer's coins come in at the intent's address and are booked as any deposit; here only the gas
is.
"""

import uuid
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from apps.agents.models import SignedPayment, SignedPaymentStep
from apps.agents.states import SIGNED, SIGNED_OPEN
from apps.assets.selectors import native_asset_id
from apps.chain.models import OutgoingTransaction
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.sending import carried_out, sender
from apps.chain.sending.authorizations import Authorization, call_data
from apps.core import clock
from apps.core.failpoints import failpoint
from apps.core.machine import Change, Noted
from apps.core.rows import Job
from apps.ledger import movements
from apps.ledger.chart import AVAILABLE
from apps.ledger.posting import locked_balance

PURPOSE = OutgoingTransaction.Purpose.X402
JOB = Job("agents.advance_x402", limit=100, in_transaction=False)
ELSEWHERE = "Another transaction carried it out"
# A caller who waits longer than this beyond the limit has gone away without an answer.
ABANDONED = timedelta(seconds=10)
_Sent = OutgoingTransaction.Status
_Status = SignedPayment.Status


def advance_signed_payments(mode: str = "") -> int:
    """The sweep (of a mode): move everything that isn't over one step; how many there were."""
    rows = SignedPayment.objects.filter(status__in=SIGNED_OPEN).order_by("updated_at")
    rows = rows.filter(mode=mode) if mode else rows
    return JOB.walk(rows.values_list("pk", flat=True), advance, mode=mode)


def advance(signed_id: uuid.UUID) -> None:
    """One signed payment, under its own lock. Not inside a transaction: one whose own transaction
    failed is other_hash for on the chain before that is called its end."""
    other_hash = _look(signed_id)
    with transaction.atomic():
        signed = _rows().select_for_update(no_key=True, of=("self",)).get(pk=signed_id)
        if signed.status not in SIGNED_OPEN or (_is_unclear(signed) and other_hash is None):
            return
        at = clock.now(signed.store, signed.mode)
        if other_hash is not None:
            signed.is_elsewhere = bool(other_hash)
            signed.tx_hash = other_hash
            signed.save(update_fields=["is_elsewhere", "tx_hash"])
        transfer = _transfer_of(signed) if signed.is_elsewhere else _request(signed)
        failpoint("x402.K2")
        if signed.status == _Status.VERIFIED:
            move(signed, _Status.SUBMITTED, at)
        _follow(signed, transfer, at)


def _follow(signed: SignedPayment, transfer: OutgoingTransaction | None, at: datetime) -> None:
    is_over = transfer is None or transfer.status in (_Sent.CONFIRMED, _Sent.FAILED)
    if signed.is_elsewhere:
        if is_over and _has_come(signed):
            move(signed, _Status.SETTLED, at, note=ELSEWHERE)
            _pay_gas(signed, transfer, at)
    elif transfer is not None and is_over:
        _end(signed, transfer, at)
    elif (
        signed.status == _Status.SUBMITTED
        and signed.updated_at < at - patience() - ABANDONED
        and signed.answered_at is None
    ):
        tx_hash = transfer.tx_hash if transfer is not None else ""
        move(signed, _Status.UNKNOWN, at, note="Nobody waits for it", tx_hash=tx_hash)


def _rows() -> "QuerySet[SignedPayment]":
    return SignedPayment.objects.select_related("store", "offer__asset__chain")


def _look(signed_id: uuid.UUID) -> str | None:
    """The transaction that carried it out in the place of ours, empty when there is none; None when
    nobody has to ask, or nobody can say."""
    signed = _rows().get(pk=signed_id)
    if signed.status not in SIGNED_OPEN or not _is_unclear(signed):
        return None
    asset = signed.offer.asset
    try:
        with closing(nodes_of(asset.chain)) as nodes:
            return carried_out.transaction_of(asset, authorization_of(signed), nodes)
    except RpcError:
        return None


def _is_unclear(signed: SignedPayment) -> bool:
    """Only the chain knows who carried it out: our transaction has failed, or the deposit of
    another one isn't confirmed and may have been taken away."""
    if signed.is_elsewhere:
        return not _has_come(signed)
    transfer = _transfer_of(signed)
    return transfer is not None and transfer.status == _Sent.FAILED


def _has_come(signed: SignedPayment) -> bool:
    return carried_out.is_confirmed(signed.offer.asset, authorization_of(signed), signed.tx_hash)


def _transfer_of(signed: SignedPayment) -> OutgoingTransaction | None:
    return OutgoingTransaction.objects.filter(purpose=PURPOSE, reference=str(signed.pk)).first()


def patience() -> timedelta:
    """How long a caller waits for a block."""
    return timedelta(seconds=settings.X402_SETTLE_SECONDS)


def _request(signed: SignedPayment) -> OutgoingTransaction:
    asset = signed.offer.asset
    return sender.request(
        chain_id=signed.chain_id,
        asset_id=asset.pk,
        to=signed.contract_address,
        amount_atomic=signed.amount_atomic,
        purpose=PURPOSE,
        reference=signed.pk,
        mode=signed.mode,
        store_id=signed.store_id,
        at=clock.real_now(),
        call_data=call_data(authorization_of(signed)),
    )


def authorization_of(signed: SignedPayment) -> Authorization:
    return Authorization(
        payer=signed.payer,
        to=signed.offer.pay_to_id,
        amount_atomic=signed.amount_atomic,
        valid_after=signed.valid_after,
        valid_before=signed.valid_before,
        nonce=signed.nonce,
        signature=signed.signature,
    )


def _end(signed: SignedPayment, transfer: OutgoingTransaction, at: datetime) -> None:
    if transfer.status == _Sent.CONFIRMED:
        move(signed, _Status.SETTLED, at, tx_hash=transfer.tx_hash)
    else:
        reason = transfer.reason or "The transaction failed"
        move(
            signed,
            _Status.FAILED,
            at,
            note=reason[:200],
            tx_hash=transfer.tx_hash,
            failure_reason=reason[:200],
        )
    _pay_gas(signed, transfer, at)


def _pay_gas(signed: SignedPayment, transfer: OutgoingTransaction | None, at: datetime) -> None:
    """Book once what our transaction cost, also when it was reverted."""
    if transfer is None or transfer.handled_status == transfer.status:
        return
    if transfer.network_fee_atomic:
        movements.x402_gas_paid(
            mode=signed.mode,
            asset_id=native_asset_id(signed.offer.asset),
            signed_id=signed.pk,
            payment_id=signed.offer.payment_id,
            gas_atomic=transfer.network_fee_atomic,
            at=at,
        )
        _charge(signed, transfer.network_fee_atomic, at)
    sender.mark_handled(transfer)


def _charge(signed: SignedPayment, gas_atomic: int, at: datetime) -> None:
    """The merchant bears the gas of what it has settled, as far as it has the chain's coin."""
    native_id = native_asset_id(signed.offer.asset)
    charged = min(gas_atomic, locked_balance(signed.store_id, signed.mode, native_id, AVAILABLE))
    if charged > 0:
        movements.x402_gas_charged(
            store_id=signed.store_id,
            mode=signed.mode,
            asset_id=native_id,
            signed_id=signed.pk,
            payment_id=signed.offer.payment_id,
            gas_atomic=charged,
            at=at,
        )


def move(
    signed: SignedPayment, to: str, at: datetime, *, note: str = "", **changes: object
) -> bool:
    """One move with its line of history, inside the caller's transaction; False when somebody was
    faster."""
    return SIGNED.change_status(signed, Noted(to, note), at=at, updated_at=at, **changes)


@SIGNED.recorder
def _record(changes: Sequence[Change[SignedPayment, Noted]]) -> None:
    for change in changes:
        SignedPaymentStep.objects.create(
            signed=change.row,
            from_status=change.before,
            to_status=change.step.status,
            at=change.at,
            note=change.step.note,
        )
