"""Refunds on their way, and what a confirmed one does to its payment."""

import uuid
from datetime import datetime
from typing import Any, TypedDict

from apps.assets.selectors import fee_asset_id
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import attempts
from apps.chain.sending.following import RowT, TransferFollower, TransferOrder
from apps.core import jobs, money
from apps.core.clock import real_now
from apps.core.machine import Machine, Step
from apps.core.rows import Job
from apps.ledger import movements
from apps.payments import events, states
from apps.payments.models import Payment, Refund
from apps.payments.selectors import received_by
from apps.payments.services import held_progress, held_refunds
from apps.payments.services.change_status import change_status, locked_payment
from apps.stores.notices.kinds import REFUND_FAILED

LOOKS_AT = (Refund,)


def book_gas(transfer: OutgoingTransaction, at: datetime) -> None:
    """Book the fee of an attempt that failed."""
    movements.attempt_gas_paid(
        mode=transfer.mode,
        outgoing_id=transfer.pk,
        gas_asset_id=fee_asset_id(transfer.asset),
        gas_atomic=transfer.network_fee_atomic,
        at=at,
    )


class BackFollower(TransferFollower[RowT]):
    """Follower of returned coins: refunds, and returns of unmatched transfers."""

    purpose = OutgoingTransaction.Purpose.REFUND
    machine: Machine[Any, Step]
    attempt_failed = staticmethod(book_gas)

    def order(self, row: Any, at: datetime) -> TransferOrder:
        return TransferOrder(row.asset, row.destination_address, row.amount_atomic)

    def submitted(self, row: Any, transfer: OutgoingTransaction, at: datetime) -> None:
        """A later attempt has another transaction."""
        columns = self.columns_of(transfer)
        if row.status in self.unsent:
            columns |= {"submitted_at": at, "submitted_real_at": real_now(), "updated_at": at}
            self.machine.change_locked(row, Step("submitted"), at=at, **columns)
        elif row.tx_hash != transfer.tx_hash:
            self.rows().filter(pk=row.pk).update(**columns)

    def columns_of(self, transfer: OutgoingTransaction) -> dict[str, object]:
        return {"tx_hash": transfer.tx_hash}

    def failed(self, row: Any, transfer: OutgoingTransaction, at: datetime) -> None:
        changes = {"failure_reason": transfer.reason[:200], "updated_at": at}
        self.machine.change_locked(row, Step("failed"), at=at, **changes)
        self.release(row, transfer, at)

    def release(self, row: RowT, transfer: OutgoingTransaction, at: datetime) -> None:
        """The coins go back to where they came from."""
        raise NotImplementedError


class RefundFollower(BackFollower[Refund]):
    """A refund moves under the lock of its payment."""

    noun = "Refund"
    notification = REFUND_FAILED
    page = "payments"
    page_key = "payment_id"
    job = Job("payments.advance_refunds", limit=100)
    model = Refund
    machine = states.REFUND_MACHINE

    def locked(self, key: uuid.UUID) -> Refund:
        payment = locked_payment(Refund.objects.values_list("payment_id", flat=True).get(pk=key))
        refund = super().locked(key)
        refund.payment = payment
        return refund

    def columns_of(self, transfer: OutgoingTransaction) -> dict[str, object]:
        return super().columns_of(transfer) | {"attempts": attempts.number_of(transfer) + 1}

    def confirmed(self, row: Refund, transfer: OutgoingTransaction, at: datetime) -> None:
        """Book it, give back the platform's share, and move the payment to refunded with the first
        one."""
        payment = row.payment
        states.REFUND_MACHINE.change_locked(row, Step("confirmed"), at=at, updated_at=at)
        movements.refund_confirmed(
            **_booking(row, at),
            gas_atomic=transfer.network_fee_atomic,
            is_simulated=row.is_simulated,
        )
        if payment.platform_id and payment.platform_fee_fraction and not row.is_from_held:
            movements.platform_fee_returned(
                store_id=row.store_id,
                mode=row.mode,
                asset_id=row.asset_id,
                payment_id=payment.pk,
                refund_id=row.pk,
                platform_id=payment.platform_id,
                share_atomic=money.fee_of(row.amount_atomic, payment.platform_fee_fraction),
                at=at,
            )
        _note_on_payment(payment, at)

    def failed(self, row: Refund, transfer: OutgoingTransaction, at: datetime) -> None:
        super().failed(row, transfer, at)
        events.refund_failed(row, at)

    def release(self, row: Refund, transfer: OutgoingTransaction, at: datetime) -> None:
        movements.refund_released(
            **_booking(row, at),
            gas_atomic=transfer.network_fee_atomic,
            is_to_held=row.is_from_held,
        )
        held_refunds.take_back(row.payment, row, at)


FOLLOWER = RefundFollower()
advance_refund = FOLLOWER.advance_one
next_due = FOLLOWER.next_due
run_due = FOLLOWER.run_due


def advance_refunds(mode: str = "") -> int:
    """The sweep (of a mode): move every open refund one step; how many there were. Whom nobody has
    looked at yet is looked at before."""
    held_progress.check_due(mode)
    return FOLLOWER.advance(mode)


class _Booking(TypedDict):
    """Shared arguments of both movements of a refund."""

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
        "gas_asset_id": fee_asset_id(refund.asset),
        "at": at,
    }


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
