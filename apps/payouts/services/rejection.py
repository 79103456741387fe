"""Staff reject a payout in review, and its coins can be spent again.

Coins that an off-ramp has, or may have taken an order for, are given back by a worker, once the
off-ramp itself says that it has given the order up. Nothing that the web writes proves that, so it
asks by an order (apps.stores.staff.worker_orders).
"""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_noop

from apps.core import clock
from apps.core.errors import Failure
from apps.core.messages.fields import is_uuid
from apps.core.rows import Job
from apps.ledger import movements
from apps.ledger.posting import may_post
from apps.payouts.models import OfframpOrder, Payout
from apps.payouts.providers.base import FAILED, SETTLED
from apps.payouts.services import moves, offramp
from apps.payouts.services.review import (
    ReasonMissing,
    locked_in_review,
    note_decision,
    tell_owners,
)
from apps.stores import staff_roles
from apps.stores.models import User, WorkerOrder
from apps.stores.staff import worker_orders
from apps.stores.staff.worker_orders import OrderKind

_Status = Payout.Status


class NotGivenUp(Failure):
    message = "The off-ramp has not given this order up"


class NotRejected(Failure):
    message = "The payout is no longer in review, or of another store than the order says"


def reject_payout(payout: Payout, reason: str, staff: User | None = None) -> Payout | WorkerOrder:
    """It fails, and the coins can be spent again; or what a worker is asked for.

    Raises NotInReview, OutcomeUnknown, ReasonMissing, StaffForbidden or AlreadyOrdered.
    """
    if staff is not None:
        staff_roles.check(staff, staff_roles.PAYOUT_REJECT)
    if not reason.strip():
        raise ReasonMissing
    with transaction.atomic():
        fresh = locked_in_review(payout)
        if not _needs_worker(fresh):
            return _reject(fresh, reason)
        return worker_orders.place(
            ORDER,
            target_id=str(fresh.pk),
            store=fresh.store,
            mode=fresh.mode,
            name=f"Payout of {moves.name_of(fresh)} from {fresh.store.name}",
            reason=reason,
            staff=staff,
        )


def _needs_worker(payout: Payout) -> bool:
    if may_post("payout_handed_back") or payout.is_crypto:
        return False
    has_coins = payout.funds == Payout.Funds.CLEARING
    return has_coins or OfframpOrder.objects.filter(payout=payout, failed_at=None).exists()


def _reject(payout: Payout, reason: str) -> Payout:
    """The caller has locked the row."""
    at = clock.now(payout.store, payout.mode)
    if payout.funds == Payout.Funds.CLEARING:
        movements.payout_handed_back(**moves.booking(payout, at), attempt=payout.attempts)
    if may_post("payout_handed_back"):
        offramp.end_order(payout, at)
    moves.move(
        payout,
        _Status.FAILED,
        at,
        reason,
        review_reason="",
        is_outcome_unknown=False,
        failure_code=Payout.FailureCode.UNKNOWN,
        failure_reason=reason[: moves.TEXT_MAX],
        retry_at=None,
    )
    moves.release(payout, at)
    note_decision(payout, "payout.rejected", reason)
    tell_owners(
        payout,
        "A payout of {amount} from {store} was rejected",
        gettext_noop("It was checked, and did not go out. What it reserved can be spent again."),
        at,
        reason,
    )
    return payout


# --- by a worker ----------------------------------------------------------------------------------


def _payout_of(row: WorkerOrder) -> Payout:
    """Raises NotRejected."""
    payout: Payout | None = (
        Payout.objects.select_related("asset__chain", "store", "destination")
        .filter(
            pk=row.target_id if is_uuid(row.target_id) else None, status=_Status.REQUIRES_REVIEW
        )
        .first()
    )
    if payout is None or (payout.store_id, payout.mode) != (row.store_id, row.mode):
        raise NotRejected
    return payout


def _describe(row: WorkerOrder) -> str:
    payout = _payout_of(row)
    person = row.asked_by or "an operator"
    return (
        f"{moves.name_of(payout)} that went to the off-ramp for a bank payout, back to"
        f" {payout.store.name}, requested by {person}"
    )


def _check(row: WorkerOrder) -> None:
    """The off-ramp has the last word in live mode; its sandbox keeps nobody's coins. Raises
    NotGivenUp or ProviderError."""
    payout = _payout_of(row)
    provider = offramp.offramp_of(payout.mode, payout.provider)
    at = clock.now(payout.store, payout.mode)
    outcome = provider.look(offramp.order_of(payout), at, clock.real_now())
    if outcome.state == SETTLED or (payout.is_live and outcome.state != FAILED):
        raise NotGivenUp


def _carry_out(row: WorkerOrder, at: datetime) -> str:
    _reject(locked_in_review(_payout_of(row)), row.reason)
    return "The coins are available again"


ORDER = OrderKind(
    "hand_back",
    gettext_noop("A return of coins from an off-ramp"),
    "payouts.hand_back",
    Job("payouts.hand_back", in_transaction=False),
    staff_roles.ORDER_STOP,
    _describe,
    _carry_out,
    _check,
)


def hand_back() -> int:
    """Returns the coins of payouts that staff have rejected in the web; how many were looked at."""
    return worker_orders.work(ORDER)
