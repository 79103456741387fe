"""Draws that are sent on the chain. One whose outcome is unknown stays submitted; one that failed
returns the coins to the store and the amount to the mandate."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import QuerySet

from apps.agents import states
from apps.agents.models import Mandate, Settlement, SettlementStep
from apps.agents.services.mandates import change_status
from apps.assets.selectors import fee_asset_id
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.families import stored
from apps.chain.sending.following import TransferFollower, TransferOrder
from apps.chain.sending.limits import is_refused_destination
from apps.core.machine import Change, StepWithNote
from apps.core.rows import Job
from apps.ledger import movements
from apps.payments.services.refund_progress import book_gas
from apps.stores.notices.kinds import SPENDING_PROBLEM

PURPOSE = OutgoingTransaction.Purpose.SETTLEMENT
MISSING_PAY_TO = "missing_pay_to"
INVALID_PAY_TO = "invalid_pay_to"
_WORDS = {
    MISSING_PAY_TO: "It names no address to pay.",
    INVALID_PAY_TO: "Nothing can be sent to its address.",
}
_Status = Settlement.Status


class DrawFollower(TransferFollower[Settlement]):
    """The mandate of a draw is locked only to give room back."""

    purpose = PURPOSE
    noun = "Draw"
    notification = SPENDING_PROBLEM
    page = "agents/mandates"
    page_key = "mandate_id"
    failpoint = "settlement.K2"
    job = Job("agents.advance_settlements", limit=100)
    model = Settlement
    attempt_failed = staticmethod(book_gas)

    def rows(self) -> "QuerySet[Settlement]":
        return super().rows().filter(is_dispatched=True)

    def is_open(self, row: Settlement) -> bool:
        return super().is_open(row) and row.is_dispatched

    def order(self, row: Settlement, at: datetime) -> TransferOrder | None:
        pay_to = row.pay_to or ""
        if not pay_to:
            self.fail_unasked(row, row.asset, row.amount_atomic, MISSING_PAY_TO, at)
        elif (
            row.status == _Status.PENDING
            and is_refused_destination(stored(pay_to), PURPOSE, row.mode)
            and not _is_asked_for(row)
        ):
            self.fail_unasked(row, row.asset, row.amount_atomic, INVALID_PAY_TO, at)
        else:
            return TransferOrder(row.asset, pay_to, row.amount_atomic)
        return None

    def submitted(self, row: Settlement, transfer: OutgoingTransaction, at: datetime) -> None:
        if row.status == _Status.PENDING:
            _move(row, _Status.SUBMITTED, at, tx_ref=transfer.tx_hash or None)

    def in_review(self, row: Settlement, transfer: OutgoingTransaction, at: datetime) -> None:
        """A transaction that may have left counts as submitted."""
        self.submitted(row, transfer, at)

    def confirmed(self, row: Settlement, transfer: OutgoingTransaction, at: datetime) -> None:
        _move(row, _Status.CONFIRMED, at, tx_ref=transfer.tx_hash)
        movements.x402_confirmed(
            mode=row.mode,
            asset_id=row.asset_id,
            settlement_id=row.pk,
            amount_atomic=row.amount_atomic,
            gas_asset_id=fee_asset_id(row.asset),
            gas_atomic=transfer.network_fee_atomic,
            at=at,
        )

    def failed(self, row: Settlement, transfer: OutgoingTransaction, at: datetime) -> None:
        """The store has its coins back, and the mandate its room."""
        reason = transfer.reason[:200]
        _move(row, _Status.FAILED, at, note=reason, failure_reason=reason)
        movements.x402_reversed(
            store_id=row.store_id,
            mode=row.mode,
            asset_id=row.asset_id,
            settlement_id=row.pk,
            amount_atomic=row.amount_atomic,
            gas_asset_id=fee_asset_id(row.asset),
            gas_atomic=transfer.network_fee_atomic,
            at=at,
        )
        mandate = Mandate.objects.select_for_update(no_key=True).get(pk=row.mandate_id)
        Mandate.objects.filter(pk=mandate.pk).update(
            spent_atomic=mandate.spent_atomic - row.amount_atomic, updated_at=at
        )
        if mandate.status == Mandate.Status.EXHAUSTED and mandate.expires_at > at:
            change_status(mandate, Mandate.Status.ACTIVE, at)

    def notify(self, transfer: OutgoingTransaction, outcome: str, text: str) -> None:
        super().notify(transfer, outcome, _WORDS.get(text, text))


FOLLOWER = DrawFollower()
advance_settlements = FOLLOWER.advance


def _is_asked_for(settlement: Settlement) -> bool:
    """Then it may be on the chain, and the signer refuses what isn't."""
    rows = OutgoingTransaction.objects.filter(purpose=PURPOSE, reference=str(settlement.pk))
    return rows.exists()


def _move(
    settlement: Settlement, to: str, at: datetime, *, note: str = "", **changes: object
) -> None:
    states.SETTLEMENT.change_locked(
        settlement, StepWithNote(to, note), at=at, updated_at=at, **changes
    )


@states.SETTLEMENT.recorder
def _record(changes: Sequence[Change[Settlement, StepWithNote]]) -> None:
    for change in changes:
        SettlementStep.objects.create(
            settlement=change.row,
            from_status=change.before,
            to_status=change.step.status,
            at=change.at,
            note=change.step.note,
        )
