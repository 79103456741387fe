"""Notifications to a store's members about payouts that arrived, failed for good, or wait for
review."""

from collections.abc import Iterable

from apps.core.machine import Change, StepWithNote
from apps.core.money import decimal_from_atomic
from apps.payouts.models import Payout
from apps.stores.notices.kinds import PAYOUT_CONFIRMED, PAYOUT_PROBLEM
from apps.stores.notices.notifications import NewNotification, record

_Status = Payout.Status
_WORDS = {
    _Status.CONFIRMED: (PAYOUT_CONFIRMED, "was confirmed", ""),
    _Status.FAILED: (PAYOUT_PROBLEM, "failed", ""),
    _Status.REQUIRES_REVIEW: (
        PAYOUT_PROBLEM,
        "is under review",
        "We review it before it’s sent. There’s nothing for you to do.",
    ),
}


def tell(changes: Iterable[Change[Payout, StepWithNote]]) -> None:
    """Notifies of changes; payouts that are retried by themselves are left out."""
    moved = [change for change in changes if change.step.status in _WORDS]
    record(*(_news(payout) for payout in moved if not _is_tried_again(payout)))


def _is_tried_again(change: Change[Payout, StepWithNote]) -> bool:
    return change.step.status == _Status.FAILED and change.row.retry_at is not None


def _news(change: Change[Payout, StepWithNote]) -> NewNotification:
    payout = change.row
    status = _Status(change.step.status)
    kind, words, text = _WORDS[status]
    amount = decimal_from_atomic(payout.amount_atomic, payout.asset.atomic_decimals)
    coins = f"{amount} {payout.asset.coin_symbol}"
    return NewNotification(
        payout.store_id,
        payout.mode,
        kind,
        f"{payout.pk}:{status}",
        f"Payout of {coins} {words}",
        f"/dashboard/payouts/{payout.pk}",
        text or payout.failure_reason or "",
        coins,
    )
