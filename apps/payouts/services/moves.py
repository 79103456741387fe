"""Every change of a payout's status: the move, its line of history, and what a failure does to the
reserved coins.

The caller holds the payout's row lock. `at` is the time by the store's clock.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict

from apps.assets.selectors import fee_asset_id
from apps.chain.models import OutgoingTransaction
from apps.core import jobs
from apps.core.machine import Change, StepWithNote
from apps.core.money import amount_text
from apps.ledger import movements
from apps.ledger.chart import AVAILABLE
from apps.ledger.posting import locked_balance
from apps.payouts import states
from apps.payouts.models import Payout, PayoutTransition
from apps.payouts.services.notifications import tell

_Status = Payout.Status
_Funds = Payout.Funds
_Code = Payout.FailureCode
TEXT_MAX = 200
UNCLEAR = "What became of it is not known"


def locked(payout: Payout) -> Payout:
    rows = (
        Payout.objects.select_for_update(of=("self",))
        .select_related("asset__chain", "store", "destination")
        .defer("destination__account_sealed")
    )
    fresh: Payout = rows.get(pk=payout.pk)
    return fresh


def name_of(payout: Payout) -> str:
    """The payout's name in the audit log; its ID is beside that."""
    coins = amount_text(payout.amount_atomic, payout.asset.atomic_decimals)
    return f"{coins} {payout.asset.coin_symbol}"


def move(payout: Payout, to: str, at: datetime, note: str = "", **changes: Any) -> bool:
    """Move it if it still has the status of this copy; its history has a line for it."""
    return states.MACHINE.change_status(
        payout,
        StepWithNote(to, note[:TEXT_MAX]),
        at=at,
        updated_at=at,
        pending_reason="",
        **changes,
    )


def hold_for_review(payout: Payout, reason: str, at: datetime) -> None:
    """Only a person can say what became of it."""
    move(
        payout,
        _Status.REQUIRES_REVIEW,
        at,
        reason,
        review_reason=reason,
        is_outcome_unknown=True,
    )


@states.MACHINE.recorder
def _record(changes: Sequence[Change[Payout, StepWithNote]]) -> None:
    PayoutTransition.objects.bulk_create(
        PayoutTransition(
            payout=change.row,
            from_status=change.before,
            to_status=change.step.status,
            note=change.step.note,
            at=change.at,
        )
        for change in changes
    )
    tell(changes)


def set_columns(payout: Payout, **changes: Any) -> None:
    """Columns that aren't the status."""
    Payout.objects.filter(pk=payout.pk).update(**changes)
    for name, value in changes.items():
        setattr(payout, name, value)


class PayoutBooking(TypedDict):
    """Shared arguments of a payout's movements."""

    store_id: uuid.UUID
    mode: str
    asset_id: str
    payout_id: uuid.UUID
    amount_atomic: int
    at: datetime


def booking(payout: Payout, at: datetime) -> PayoutBooking:
    return {
        "store_id": payout.store_id,
        "mode": payout.mode,
        "asset_id": payout.asset_id,
        "payout_id": payout.pk,
        "amount_atomic": payout.amount_atomic,
        "at": at,
    }


def book_gas(payout: Payout, transaction: OutgoingTransaction, at: datetime) -> None:
    """Books the cost of a transaction that moved nothing of the store's."""
    movements.payout_gas_paid(
        mode=payout.mode,
        asset_id=fee_asset_id(payout.asset),
        reference=transaction.reference,
        payout_id=payout.pk,
        gas_atomic=transaction.network_fee_atomic,
        at=at,
    )


def fail(payout: Payout, code: str, reason: str, at: datetime, *, is_unclear: bool = False) -> None:
    """It didn't go out this time. Tried again by itself, kept for a retry, or given back, as its
    category says.

    `is_unclear`: nobody can say that it never will. Then nothing is given back: after the last
    retry a person decides.
    """
    is_over = payout.retries >= states.RETRIES_MAX
    if is_unclear and is_over:
        move(
            payout,
            _Status.REQUIRES_REVIEW,
            at,
            reason,
            review_reason=UNCLEAR,
            is_outcome_unknown=True,
            retry_at=None,
        )
        return
    retries_itself = code in states.RETRIED_BY_ITSELF and not is_over
    moved = move(
        payout,
        _Status.FAILED,
        at,
        reason,
        failure_code=code,
        failure_reason=reason[:TEXT_MAX],
        is_outcome_unknown=is_unclear,
        attempts=payout.attempts + (0 if is_unclear else 1),
        retry_at=at + states.RETRY_DELAYS[payout.retries] if retries_itself else None,
        review_reason="",
    )
    if moved and not is_unclear and (is_over or code in states.RETURNED_AT_ONCE):
        release(payout, at)


def fail_for_fee(payout: Payout, at: datetime) -> None:
    """The network asks for more than there is."""
    set_columns(payout, withheld_atomic=0)
    fail(payout, _Code.INSUFFICIENT_FUNDS, "The network's fee is more than the amount", at)


def release(payout: Payout, at: datetime) -> None:
    """Give the reserved coins of a failed payout back. Once; afterwards it can't be retried."""
    movements.payout_released(**booking(payout, at))
    set_columns(payout, funds=_Funds.RETURNED, retry_at=None, updated_at=at)
    charge_failed_gas(payout, at)


def charge_failed_gas(payout: Payout, at: datetime) -> None:
    """Charges the cost of failed attempts to the requester, as far as it has the chain's coin; the
    rest stays due until coins come back."""
    if not payout.failed_gas_due_atomic:
        return
    native_id = fee_asset_id(payout.asset)
    balance = locked_balance(payout.store_id, payout.mode, native_id, AVAILABLE)
    charged = min(payout.failed_gas_due_atomic, balance)
    if charged <= 0:
        return
    movements.payout_gas_charged(
        store_id=payout.store_id,
        mode=payout.mode,
        asset_id=native_id,
        payout_id=payout.pk,
        charged_before_atomic=payout.failed_gas_atomic,
        gas_atomic=charged,
        at=at,
    )
    due = payout.failed_gas_due_atomic - charged
    set_columns(
        payout, failed_gas_atomic=payout.failed_gas_atomic + charged, failed_gas_due_atomic=due
    )


def begin_retry(payout: Payout, at: datetime, note: str = "") -> bool:
    """A failed payout sets out again."""
    if not move(
        payout,
        _Status.RETRYING,
        at,
        note,
        retries=payout.retries + 1,
        retry_at=None,
        failure_code=None,
        failure_reason=None,
    ):
        return False
    jobs.enqueue("payouts.advance", mode=payout.mode)
    return True
