"""A person's decision about a payout that waits for review: let it go, or fail it and give the coins back.

What became of a transaction is settled with the sender first: nothing is given back while coins may be on their way.
"""

from datetime import datetime

from django.db import transaction

from apps.chain.models import OutgoingTransaction
from apps.core import clock, jobs, money
from apps.core.errors import Flat
from apps.ledger import movements
from apps.payouts.models import Payout
from apps.payouts.services import moves
from apps.payouts.services.offramp import PURPOSE, reference_of
from apps.stores import audit, notices

_Status, _Funds = Payout.Status, Payout.Funds
REJECTED = "Rejected in review"


class NotInReview(Flat):
    message = "Payout is not in review"


class OutcomeUnknown(Flat):
    message = "Its transaction is in review: say with the sending command what became of it"


class ReasonMissing(Flat):
    message = "A rejection needs a reason"


def approve_payout(payout: Payout, reason: str = "") -> Payout:
    """Back to pending, and on its way. Raises NotInReview or OutcomeUnknown."""
    with transaction.atomic():
        fresh, at = _locked(payout), clock.now(payout.store, payout.mode)
        if fresh.funds == _Funds.CLEARING:
            moves.move(fresh, _Status.SUBMITTED, at, reason, review_reason="", is_outcome_unknown=False)
        else:
            moves.move(fresh, _Status.PENDING, at, reason, review_reason="", is_outcome_unknown=False)
        _note(fresh, "payout.approved", reason)
        _tell(fresh, "was released", "It was checked, and is on its way.", at)
        jobs.enqueue("payouts.advance", mode=fresh.mode)
    return fresh


def reject_payout(payout: Payout, reason: str) -> Payout:
    """It fails, and the coins can be spent again. Raises NotInReview, OutcomeUnknown or ReasonMissing."""
    if not reason.strip():
        raise ReasonMissing
    with transaction.atomic():
        fresh, at = _locked(payout), clock.now(payout.store, payout.mode)
        if fresh.funds == _Funds.CLEARING:
            movements.payout_handed_back(**moves.booking(fresh, at), attempt=fresh.attempts)
        changes = {"failure_code": Payout.FailureCode.UNKNOWN, "failure_reason": reason[: moves.TEXT_MAX], "retry_at": None}
        moves.move(fresh, _Status.FAILED, at, reason, review_reason="", is_outcome_unknown=False, **changes)
        moves.release(fresh, at)
        _note(fresh, "payout.rejected", reason)
        _tell(fresh, "was rejected", "It was checked, and did not go out. What it reserved can be spent again.", at, reason)
    return fresh


def _locked(payout: Payout) -> Payout:
    rows = (
        Payout.objects.select_for_update(of=("self",))
        .select_related("asset__chain", "store", "destination")
        .defer("destination__account_sealed")
    )
    fresh: Payout = rows.get(pk=payout.pk)
    if fresh.status != _Status.REQUIRES_REVIEW:
        raise NotInReview
    sent = OutgoingTransaction.objects.filter(purpose=PURPOSE, reference=reference_of(fresh)).first()
    if fresh.is_crypto and sent is not None and sent.status != OutgoingTransaction.Status.FAILED:
        raise OutcomeUnknown
    return fresh


def _note(payout: Payout, action: str, reason: str) -> None:
    audit.record(action, store=payout.store_id, mode=payout.mode, target=payout, name=str(payout.pk), reason=reason)


def _tell(payout: Payout, what: str, text: str, at: datetime, reason: str = "") -> None:
    """A payout may be reviewed again and again; each time is told."""
    amount = f"{money.decimal_from_atomic(payout.amount_atomic, payout.asset.atomic_decimals)} {payout.asset.coin_symbol}"
    title = f"A payout of {amount} from {payout.store.name} {what}" + ("" if payout.is_live else " (test mode)")
    letter = notices.Decision(title, text, f"/dashboard/payouts/{payout.pk}", "Open the payout", reason)
    notices.tell_owners(payout.store, f"payout_review:{payout.pk}:{clock.iso(at)}", letter)
