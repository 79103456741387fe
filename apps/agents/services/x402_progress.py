"""Signed payments on their way. What the chain hasn't reported stays unknown.

The payer's coins come in at the intent's address and are booked as any deposit; here only the gas
is.
"""

import uuid
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from apps.agents.models import SignedPayment, SignedPaymentStep
from apps.agents.states import SIGNED, SIGNED_OPEN
from apps.assets.selectors import fee_asset_id
from apps.chain.models import OutgoingTransaction
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import RpcError
from apps.chain.sending import carried_out, costs, permits, sender
from apps.chain.sending.authorizations import Authorization, call_data
from apps.chain.sending.following import TransferFollower, TransferOrder
from apps.chain.sending.permits import Permit
from apps.chain.watching import address_looks
from apps.core import clock
from apps.core.machine import Change, StepWithNote
from apps.core.process.failpoints import failpoint
from apps.core.rows import Job
from apps.ledger import movements
from apps.ledger.chart import AVAILABLE
from apps.ledger.posting import locked_balance
from apps.payments.states import PENDING, PROCESSING
from apps.stores.notices.kinds import PAYMENT_ATTENTION

PURPOSE = OutgoingTransaction.Purpose.X402
ELSEWHERE = "Another transaction carried it out"
# A caller who waits longer than this beyond the limit has gone away without an answer.
ABANDONED = timedelta(seconds=10)
# Gas of what was signed at the checkout is charged when its payment is settled, at the latest then.
CHARGED_WITHIN = timedelta(hours=1)
_Sent = OutgoingTransaction.Status
_Status = SignedPayment.Status


class SignedFollower(TransferFollower[SignedPayment]):
    """Follower of signed payments. One whose own transaction failed is looked for on
    the chain before that is called its end: somebody else may have carried it out (`elsewhere`)."""

    purpose = PURPOSE
    noun = "Payment"
    notification = PAYMENT_ATTENTION
    page = "payments"
    page_key = "offer__payment_id"
    is_repeated = False
    failpoint = "x402.K2"
    job = Job("agents.advance_x402", limit=100, in_transaction=False)

    model = SignedPayment
    open_statuses = SIGNED_OPEN
    oldest_by = "updated_at"
    joined = ("store", "offer__asset__chain", "offer__payment")

    def advance_one(self, key: uuid.UUID) -> SignedPayment:
        """Not inside a transaction: the chain may be asked."""
        other_hash = _look(key)
        with transaction.atomic():
            row = self.locked(key)
            if self.is_open(row) and not (_is_unclear(row) and other_hash is None):
                if other_hash is not None:
                    row.is_elsewhere = bool(other_hash)
                    row.tx_hash = other_hash
                    row.save(update_fields=["is_elsewhere", "tx_hash"])
                self.step(row, self.now(row))
            return row

    def order(self, row: SignedPayment, at: datetime) -> TransferOrder:
        return TransferOrder(
            row.offer.asset,
            row.contract_address,
            row.amount_atomic,
            call_data(authorization_of(row)),
        )

    def step(self, row: SignedPayment, at: datetime) -> None:
        if row.is_elsewhere:
            self._finish_elsewhere(row, at)
        else:
            super().step(row, at)

    def follow(self, row: SignedPayment, transfer: OutgoingTransaction, at: datetime) -> None:
        self._submit(row, at)
        if not (row.is_of_checkout and transfer.status == _Sent.CONFIRMED and _is_unsettled(row)):
            super().follow(row, transfer, at)
        is_late = row.updated_at < at - patience() - ABANDONED
        if row.status == _Status.SUBMITTED and is_late and row.answered_at is None:
            move(row, _Status.UNKNOWN, at, note="Nobody waits for it", tx_hash=transfer.tx_hash)

    def confirmed(self, row: SignedPayment, transfer: OutgoingTransaction, at: datetime) -> None:
        move(row, _Status.SETTLED, at, tx_hash=transfer.tx_hash)
        _pay_gas(row, transfer, at)

    def failed(self, row: SignedPayment, transfer: OutgoingTransaction, at: datetime) -> None:
        reason = transfer.reason[:200]
        changes = {"tx_hash": transfer.tx_hash, "failure_reason": reason}
        move(row, _Status.FAILED, at, note=reason, **changes)
        _pay_gas(row, transfer, at)

    def notify(self, transfer: OutgoingTransaction, outcome: str, text: str) -> None:
        """Of a failure the caller hears, and the payment stays as it was."""
        if outcome != "failed":
            super().notify(transfer, outcome, text)

    def _finish_elsewhere(self, row: SignedPayment, at: datetime) -> None:
        transfer = _transfer_of(row)
        failpoint(self.failpoint)
        self._submit(row, at)
        if not _has_come(row):  # a block may have had it before its address was recorded
            address_looks.ask(row.chain_id, {row.offer.pay_to_id: row.offer.asset_id})
        is_over = transfer is None or transfer.status in (_Sent.CONFIRMED, _Sent.FAILED)
        if is_over and _has_come(row):
            move(row, _Status.SETTLED, at, note=ELSEWHERE)
            if transfer is not None and transfer.handled_status != transfer.status:
                _pay_gas(row, transfer, at)
                sender.mark_handled(transfer)

    @staticmethod
    def _submit(row: SignedPayment, at: datetime) -> None:
        if row.status == _Status.VERIFIED:
            move(row, _Status.SUBMITTED, at)


def _look(signed_id: uuid.UUID) -> str | None:
    """The transaction that carried it out in the place of ours, empty when there is none; None when
    nobody has to ask, or nobody can say."""
    signed = SignedPayment.objects.select_related("offer__asset__chain").get(pk=signed_id)
    if signed.status not in SIGNED_OPEN or not _is_unclear(signed):
        return None
    asset = signed.offer.asset
    try:
        with closing(nodes_of(asset.chain)) as nodes:
            return carried_out.transaction_of(
                asset, authorization_of(signed), nodes, carried_out.UNRECORDED
            )
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
    """Time for which a caller waits for a block."""
    return timedelta(seconds=settings.X402_SETTLE_SECONDS)


def authorization_of(signed: SignedPayment) -> Authorization:
    return Authorization(
        payer=signed.payer,
        to=signed.offer.pay_to_id,
        amount_atomic=signed.amount_atomic,
        valid_after=signed.valid_after,
        valid_before=signed.valid_before,
        nonce=signed.nonce,
        signature=signed.signature,
        permit=_permit_of(signed),
    )


def _permit_of(signed: SignedPayment) -> Permit | None:
    if signed.contract_address != permits.PERMIT2:
        return None
    return Permit(str(signed.offer.asset.contract_address), permits.carrier(signed.chain_id))


def _pay_gas(signed: SignedPayment, transfer: OutgoingTransaction, at: datetime) -> None:
    """Book what our transaction cost, also when it was reverted."""
    if transfer.network_fee_atomic and transfer.handled_status != transfer.status:
        movements.x402_gas_paid(
            mode=signed.mode,
            asset_id=fee_asset_id(signed.offer.asset),
            signed_id=signed.pk,
            payment_id=signed.offer.payment_id,
            gas_atomic=transfer.network_fee_atomic,
            at=at,
        )
        _charge(signed, transfer.network_fee_atomic, at)


def _is_unsettled(signed: SignedPayment) -> bool:
    """Tell whether the coins that its gas is charged from are still to be booked as the store's;
    what an open payment has received when its time is over is waited for no longer."""
    payment = signed.offer.payment
    is_over = signed.updated_at + CHARGED_WITHIN < clock.now(signed.store, signed.mode)
    return payment.status in (PENDING, PROCESSING) and not is_over


def _charge(signed: SignedPayment, gas_atomic: int, at: datetime) -> None:
    """The merchant bears the gas of what it has settled, as far as it has the chain's coin; of what
    was signed at its checkout, in the coin that was paid."""
    asset_id = fee_asset_id(signed.offer.asset)
    if signed.is_of_checkout:
        worth = costs.worth_of_gas(signed.offer.asset, gas_atomic)
        asset_id, gas_atomic = signed.offer.asset_id, worth or 0
    charged = min(gas_atomic, locked_balance(signed.store_id, signed.mode, asset_id, AVAILABLE))
    if charged > 0:
        movements.x402_gas_charged(
            store_id=signed.store_id,
            mode=signed.mode,
            asset_id=asset_id,
            signed_id=signed.pk,
            payment_id=signed.offer.payment_id,
            gas_atomic=charged,
            at=at,
        )


def move(
    signed: SignedPayment, to: str, at: datetime, *, note: str = "", **changes: object
) -> bool:
    """Moves the status and adds a line of history, inside the caller's transaction; False when
    somebody was faster."""
    return SIGNED.change_status(signed, StepWithNote(to, note), at=at, updated_at=at, **changes)


FOLLOWER = SignedFollower()
advance = FOLLOWER.advance_one
advance_signed_payments = FOLLOWER.advance


@SIGNED.recorder
def _record(changes: Sequence[Change[SignedPayment, StepWithNote]]) -> None:
    for change in changes:
        SignedPaymentStep.objects.create(
            signed=change.row,
            from_status=change.before,
            to_status=change.step.status,
            at=change.at,
            note=change.step.note,
        )
