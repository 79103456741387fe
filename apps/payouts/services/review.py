"""Review of a payout by staff: approve it. `rejection` returns the reserved coins of others.

Above STAFF_FOUR_EYES_ABOVE_CENTS, and when its worth is unknown, two members of staff must approve.
The sender first decides the outcome of the transaction: coins that may be on their way are never
returned.
"""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop

from apps.assets.selectors import price_of
from apps.chain.models import OutgoingTransaction
from apps.core import clock, jobs
from apps.core.errors import Failure
from apps.core.money import Amount, Fiat
from apps.core.text.regions import in_english
from apps.core.text.wording import Worded
from apps.payouts import states
from apps.payouts.models import Payout, PayoutApproval
from apps.payouts.services import moves
from apps.payouts.services.create import is_stopped
from apps.payouts.services.offramp import transfer_of
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.models import StaffRequest, User
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind

_Status = Payout.Status
_Funds = Payout.Funds
REJECTED = "Rejected in review"
RELEASED = "released"
ASKED = "sent for a second approval"


class NotInReview(Failure):
    message = "Payout is not in review"


class OutcomeUnknown(Failure):
    message = "Its transaction is in review: say with the sending command what became of it"


class AwaitsApprover(Failure):
    message = "Somebody of the store has to approve it first"


class StillStopped(Failure):
    message = "It waits for another reason, or its coin is still stopped"


class ReasonMissing(Failure):
    message = "A rejection needs a reason"


class TwoNeeded(Failure):
    message = "This amount takes two members of staff: say who asks and who approves"


def approve_payout(
    payout: Payout, reason: str = "", staff: User | None = None, second: User | None = None
) -> Payout | StaffRequest:
    """On its way; or, where that takes two, what `staff` asks the second for. None is the operator,
    who decides what one may.

    Raises NotInReview, OutcomeUnknown, TwoNeeded, StaffForbidden or what four_eyes.ask raises.
    """
    if staff is not None:
        staff_roles.check(staff, staff_roles.PAYOUT_APPROVE)
    with transaction.atomic():
        fresh = locked_in_review(payout)
        if not needs_two(fresh):
            return _approve(fresh, reason, None)
        if staff is None:
            raise TwoNeeded
        wish = _wish_of(fresh, reason)
        at = clock.real_now()
        if second is None:
            return four_eyes.ask(RELEASE, wish, staff, at)
        four_eyes.at_once(RELEASE, wish, staff, second, at)
        fresh.refresh_from_db()
        return fresh


def needs_two(payout: Payout) -> bool:
    worth = worth_now(payout)
    return worth is None or worth.cents > settings.STAFF_FOUR_EYES_ABOVE_CENTS


def _worth_text(payout: Payout) -> str:
    worth = worth_now(payout)
    return "no current rate" if worth is None else in_english(worth)


def worth_now(payout: Payout) -> Fiat | None:
    """In the store's currency; None without a rate."""
    price = price_of(payout.asset, payout.store.settlement_currency, clock.real_now())
    return None if price is None else price.worth(Amount(payout.asset, payout.amount_atomic))


def _wish_of(payout: Payout, reason: str) -> Proposal:
    lines = [
        ("Status", "Under review", "Approved"),
        ("Reason for review", payout.review_reason, ""),
        ("Amount", "", f"{moves.name_of(payout)}, {_worth_text(payout)}"),
        ("To", "", _target(payout)),
    ]
    name = f"Payout of {moves.name_of(payout)} from {payout.store.name}" + (
        "" if payout.is_live else " (test mode)"
    )
    return Proposal(str(payout.pk), name, {"payout": str(payout.pk)}, lines, reason)


def _target(payout: Payout) -> str:
    bank = payout.destination
    if payout.is_crypto or bank is None:
        return str(payout.destination_address)
    return f"{bank.holder}, {bank.currency} account {bank.account_hint}"


def _before(facts: Facts) -> Facts:
    """Raises NotInReview or OutcomeUnknown."""
    payout = locked_in_review(Payout(pk=facts["payout"]))
    names = (
        "store_id",
        "mode",
        "asset_id",
        "amount_atomic",
        "destination_id",
        "destination_address",
        "fiat_currency",
        "review_reason",
    )
    bank = payout.destination
    return {name: _plain(getattr(payout, name)) for name in names} | {
        "account": bank.account_hint if bank else ""
    }


def _plain(value: object) -> str | None:
    return None if value is None else str(value)


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> Payout:
    return _approve(locked_in_review(Payout(pk=facts["payout"])), request.reason, request)


RELEASE = RequestKind(
    "payout",
    "A payout in review",
    staff_roles.PAYOUT_APPROVE,
    _before,
    _carry_out,
    moves_money=True,
)


def _approve(fresh: Payout, reason: str, request: StaffRequest | None) -> Payout:
    """Back to pending, and on its way."""
    with transaction.atomic():
        at = clock.now(fresh.store, fresh.mode)
        worth = worth_now(fresh)
        if fresh.funds == _Funds.CLEARING:
            moves.move(
                fresh, _Status.SUBMITTED, at, reason, review_reason="", is_outcome_unknown=False
            )
        else:
            moves.move(
                fresh, _Status.PENDING, at, reason, review_reason="", is_outcome_unknown=False
            )
        details = {
            "worth_cents": None if worth is None else worth.cents,
            "currency": fresh.store.settlement_currency,
            "limit_cents": settings.STAFF_FOUR_EYES_ABOVE_CENTS,
        }
        note_decision(
            fresh,
            "payout.approved",
            reason,
            **details,
            **({"request": request.pk} if request else {}),
        )
        tell_owners(
            fresh,
            "A payout of {amount} from {store} was released",
            gettext_noop("It was checked, and is on its way."),
            at,
        )
        jobs.enqueue("payouts.advance", mode=fresh.mode)
    return fresh


def release_held(
    payout: Payout, reason: str, staff: User | None, second: User | None = None
) -> str:
    """Releases one of many payouts that wait because their asset was stopped, and returns its new
    state in words. Raises what approve_payout does, and StillStopped."""
    if payout.review_reason != states.ASSET_STOPPED or is_stopped(payout):
        raise StillStopped
    decided = approve_payout(payout, reason, staff, second)
    return RELEASED if isinstance(decided, Payout) else ASKED


def locked_in_review(payout: Payout) -> Payout:
    """Raises NotInReview, AwaitsApprover or OutcomeUnknown."""
    fresh = moves.locked(payout)
    if fresh.status != _Status.REQUIRES_REVIEW:
        raise NotInReview
    if fresh.approval is not None and fresh.approval.status == PayoutApproval.Status.WAITING:
        raise AwaitsApprover
    transfer = transfer_of(fresh)
    if (
        fresh.is_crypto
        and transfer is not None
        and transfer.status != OutgoingTransaction.Status.FAILED
    ):
        raise OutcomeUnknown
    return fresh


def note_decision(payout: Payout, action: str, reason: str, **details: object) -> None:
    audit.record(
        action,
        store=payout.store_id,
        mode=payout.mode,
        target=payout,
        name=moves.name_of(payout),
        reason=reason,
        details=details,
    )


# Titles of `tell_owners`.
_TITLES = (
    gettext_noop("A payout of {amount} from {store} was released"),
    gettext_noop("A payout of {amount} from {store} was rejected"),
)


def tell_owners(payout: Payout, title: str, text: str, at: datetime, reason: str = "") -> None:
    """A payout may be reviewed again and again; each time is recorded. `title` is one of
    _TITLES."""
    words = Worded(title, amount=moves.name_of(payout), store=payout.store.name)
    email = account_emails.StaffDecision(
        words if payout.is_live else Worded("{title} (test mode)", title=words),
        text,
        f"/dashboard/payouts/{payout.pk}",
        gettext_noop("Open the payout"),
        reason,
    )
    account_emails.tell_owners(payout.store, f"payout_review:{payout.pk}:{clock.iso(at)}", email)
