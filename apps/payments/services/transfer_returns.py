"""Unmatched transfers on their way back.

One that fails for good is held for its payment again, and the store decides anew.
"""

from datetime import datetime

from apps.assets.selectors import fee_asset_id
from apps.chain.models import OutgoingTransaction
from apps.chain.services import reopen_unmatched
from apps.core.machine import Step
from apps.core.rows import Job
from apps.ledger import movements
from apps.payments.models import TransferReturn
from apps.payments.services.refund_progress import BackFollower
from apps.payments.states import RETURN_MACHINE
from apps.stores.notices.kinds import UNMATCHED_TRANSFER

LOOKS_AT = (TransferReturn,)


def booking_of(row: TransferReturn, at: datetime) -> movements.Returned:
    """Shared arguments of its movements."""
    return {
        "store_id": row.store_id,
        "mode": row.mode,
        "asset_id": row.asset_id,
        "payment_id": row.payment_id,
        "return_id": row.pk,
        "amount_atomic": row.amount_atomic,
        "at": at,
    }


class ReturnFollower(BackFollower[TransferReturn]):
    """To the signer it is a refund: it goes out of what came for its payment (decision 666)."""

    noun = "Return"
    notification = UNMATCHED_TRANSFER
    page = "transfers"
    page_key = "transfer_id"
    job = Job("payments.advance_transfer_returns", limit=100)
    model = TransferReturn
    machine = RETURN_MACHINE

    def confirmed(self, row: TransferReturn, transfer: OutgoingTransaction, at: datetime) -> None:
        RETURN_MACHINE.change_locked(row, Step("confirmed"), at=at, updated_at=at)
        movements.transfer_return_confirmed(
            gas_asset_id=fee_asset_id(row.asset),
            gas_atomic=transfer.network_fee_atomic,
            is_simulated=row.is_simulated,
            **booking_of(row, at),
        )

    def release(self, row: TransferReturn, transfer: OutgoingTransaction, at: datetime) -> None:
        movements.transfer_return_released(
            gas_asset_id=fee_asset_id(row.asset),
            gas_atomic=transfer.network_fee_atomic,
            **booking_of(row, at),
        )
        reopen_unmatched(row.transfer_id)


FOLLOWER = ReturnFollower()
advance_return = FOLLOWER.advance_one
advance_returns = FOLLOWER.advance
next_due = FOLLOWER.next_due
run_due = FOLLOWER.run_due
