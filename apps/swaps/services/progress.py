"""Swaps on their way: each open one is brought a step on under its own lock, and booked in the same
transaction.

A swap that ended wakes the automatic ones, which may have waited for its coins.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from django.conf import settings

from apps.assets.selectors import fee_asset_id
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import attempts
from apps.chain.sending.following import Booking, TransferFollower, TransferOrder
from apps.core import jobs
from apps.core.machine import Change, StepWithNote
from apps.core.money import Amount
from apps.core.process.failpoints import failpoint
from apps.core.rows import Job
from apps.ledger import movements
from apps.stores.notices.kinds import SPENDING_PROBLEM
from apps.swaps import states
from apps.swaps.models import Swap, SwapStep
from apps.swaps.providers.base import FAILED, FILLED, SwapOrder, SwapOutcome
from apps.swaps.providers.treasury import PATIENCE
from apps.swaps.services.quote import provider_of

LOOKS_AT = (Swap,)
_Status = Swap.Status


class SwapFollower(TransferFollower[Swap]):
    """Follower of swaps: one that its provider fills at once ends at once; one on a chain ends with
    its transfer."""

    purpose = OutgoingTransaction.Purpose.SWAP
    noun = "Swap"
    notification = SPENDING_PROBLEM
    page = "swaps"
    is_repeated = False
    job = Job("swaps.advance", in_transaction=False)

    model = Swap
    joined = ("store", "source_asset__chain", "buy_asset__chain")

    def advance_one(self, key: uuid.UUID) -> Swap:
        """Not inside a transaction: its provider may have to ask first."""
        before = Swap.objects.select_related(*self.joined).get(pk=key)
        if self.is_open(before):
            provider_of(before.mode, before.provider).prepare(_order(before))
        return super().advance_one(key)

    def order(self, row: Swap, at: datetime) -> TransferOrder | None:
        """Coins of a test network have the rate of real ones. Web refuses a swap between modes, and
        a writer of its rows doesn't."""
        if {row.source_asset.mode, row.buy_asset.mode} != {row.mode}:
            outcome = SwapOutcome(FAILED, reason="The assets are of another mode")
        else:
            outcome = provider_of(row.mode, row.provider).advance(_order(row), at)
        if outcome.state == FAILED:
            sold = row.source_asset, row.sell_amount_atomic
            self.fail_unasked(row, *sold, outcome.reason, at)
        elif outcome.state == FILLED:
            _submit(row, None, at)
            _complete(row, outcome.bought_atomic, None, at)
        return outcome.transfer

    def submitted(self, row: Swap, transfer: OutgoingTransaction, at: datetime) -> None:
        _submit(row, transfer, at)

    def in_review(self, row: Swap, transfer: OutgoingTransaction, at: datetime) -> None:
        """A transaction that may have left counts as submitted."""
        if transfer.tx_hash:
            _submit(row, transfer, at)

    def confirmed(self, row: Swap, transfer: OutgoingTransaction, at: datetime) -> None:
        _complete(row, transfer.received_atomic, transfer, at)

    def failed(self, row: Swap, transfer: OutgoingTransaction, at: datetime) -> None:
        """The source goes back to what can be spent."""
        reason = transfer.reason[:200]
        changes = {"failure_reason": reason, "tx_hash": transfer.tx_hash or None}
        _move(row, _Status.FAILED, at, reason, **changes)
        movements.swap_released(
            store_id=row.store_id,
            mode=row.mode,
            asset_id=row.source_asset_id,
            swap_id=row.pk,
            sell_atomic=row.sell_amount_atomic,
            at=at,
            gas_asset_id=fee_asset_id(row.source_asset),
            gas_atomic=transfer.network_fee_atomic,
        )
        if transfer.requested_at is not None:
            provider_of(row.mode, row.provider).leave(_order(row))


class ApprovalFollower(Booking):
    """The gas of approvals, whatever became of their swaps. A swap fails with its approval, and
    says so itself."""

    purpose = OutgoingTransaction.Purpose.APPROVAL
    noun = "Swap"
    notification = SPENDING_PROBLEM
    page = "swaps"
    job = Job("swaps.book_approvals")
    model = Swap

    def book(self, transfer: OutgoingTransaction, moved_atomic: int, at: datetime) -> None:
        movements.swap_approval_paid(
            mode=transfer.mode,
            asset_id=fee_asset_id(transfer.asset),
            reference=transfer.reference,
            swap_id=uuid.UUID(attempts.subject_of(transfer.reference)),
            gas_atomic=transfer.network_fee_atomic,
            at=at,
        )

    def notify(self, transfer: OutgoingTransaction, outcome: str, text: str) -> None:
        if outcome != "failed":
            super().notify(transfer, outcome, text)


FOLLOWER = SwapFollower()
APPROVALS = ApprovalFollower()
advance_swap = FOLLOWER.advance_one
book_approvals = APPROVALS.advance


def advance_swaps(mode: str = "") -> int:
    """The sweep (of a mode): move every open swap as far as it comes; how many there were."""
    moved = FOLLOWER.advance(mode)
    book_approvals(mode)
    return moved


def advance_here(swap_id: uuid.UUID) -> None:
    """Advances a swap where this process may: a swap on a chain asks for transactions, which a
    process that serves people leaves to a worker."""
    swap = Swap.objects.get(pk=swap_id)
    if settings.APPROVAL_KEYS or not provider_of(swap.mode, swap.provider).is_on_chain:
        advance_swap(swap_id)


def _order(swap: Swap) -> SwapOrder:
    return SwapOrder(
        swap.pk,
        swap.mode,
        Amount(swap.source_asset, swap.sell_amount_atomic),
        Amount(swap.buy_asset, swap.expected_buy_amount_atomic),
        Amount(swap.buy_asset, swap.min_buy_amount_atomic),
        swap.created_at,
        swap.store_id,
    )


def _submit(swap: Swap, transfer: OutgoingTransaction | None, at: datetime) -> None:
    if swap.status == _Status.PENDING:
        _move(swap, _Status.SUBMITTED, at, tx_hash=transfer.tx_hash if transfer else None)


def _move(swap: Swap, to: str, at: datetime, note: str = "", **changes: object) -> None:
    states.MACHINE.change_locked(swap, StepWithNote(to, note), at=at, updated_at=at, **changes)


@states.MACHINE.recorder
def _record(changes: Sequence[Change[Swap, StepWithNote]]) -> None:
    for change in changes:
        swap = change.row
        to = change.step.status
        SwapStep.objects.create(
            swap=swap, from_status=change.before, to_status=to, note=change.step.note, at=change.at
        )
        if to in states.ENDED:
            jobs.enqueue("swaps.auto_swap", mode=swap.mode)


class _Traded(TypedDict):
    """Shared arguments of both movements of a completed swap."""

    mode: str
    swap_id: uuid.UUID
    source_asset_id: str
    sell_atomic: int
    buy_asset_id: str
    buy_atomic: int
    at: datetime


def _complete(
    swap: Swap, bought_atomic: int, transfer: OutgoingTransaction | None, at: datetime
) -> None:
    _move(
        swap,
        _Status.COMPLETED,
        at,
        actual_buy_amount_atomic=bought_atomic,
        completed_at=at,
        tx_hash=transfer.tx_hash if transfer else None,
    )
    traded: _Traded = {
        "mode": swap.mode,
        "swap_id": swap.pk,
        "source_asset_id": swap.source_asset_id,
        "sell_atomic": swap.sell_amount_atomic,
        "buy_asset_id": swap.buy_asset_id,
        "buy_atomic": bought_atomic,
        "at": at,
    }
    movements.swap_completed(store_id=swap.store_id, **traded)
    if transfer is not None:
        movements.swap_exchanged(
            gas_asset_id=fee_asset_id(swap.source_asset),
            gas_atomic=transfer.network_fee_atomic,
            **traded,
        )
    failpoint("swap.K8")


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """A new swap moves at once; one that waits for a rate is given up after its time."""
    created = Swap.objects.filter(
        store_id=store_id, mode="test", status__in=states.OPEN
    ).values_list("created_at", flat=True)
    moments = [moment for created_at in created for moment in (created_at, created_at + PATIENCE)]
    return min((moment for moment in moments if after is None or moment > after), default=None)


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    rows = Swap.objects.filter(
        store_id=store_id, mode="test", status__in=states.OPEN, created_at__lte=now
    )
    for swap_id in list(rows.order_by("created_at").values_list("pk", flat=True)):
        advance_swap(swap_id)
