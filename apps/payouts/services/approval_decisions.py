"""A second person's decision about a payout or a list that waits: it goes on, or what it reserved
comes back.

Taken once, by somebody who may move money and isn't the maker. What nobody answers in a week comes
back by itself.
"""

import hashlib
import uuid
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from apps.access import operations
from apps.access.access import Access
from apps.core import clock, jobs
from apps.core.errors import Failure, RefusalKind
from apps.core.machine import Step
from apps.core.models import Viewer
from apps.core.rows import Job
from apps.payouts import states
from apps.payouts.models import Payout, PayoutApproval, PayoutBatchLine, PayoutTransition
from apps.payouts.services import approval_rules, create, moves
from apps.stores import person_mail
from apps.stores.auditing import audit
from apps.stores.models import User

LOOKS_AT = (PayoutApproval,)
JOB = Job("payouts.expire_approvals")
_Status = PayoutApproval.Status
WAITING = PayoutApproval.Status.WAITING
_Line = PayoutBatchLine.Status
UNANSWERED = "Nobody approved it within 7 days"


class NotWaiting(Failure):
    message = "This has been decided already"


class OwnRequestRefused(Failure):
    kind = RefusalKind.FORBIDDEN
    message = "You asked for it, or made the credential that did: somebody else has to approve it"


class NotAnApprover(Failure):
    kind = RefusalKind.FORBIDDEN
    message = "Your role does not allow this"


class ApprovalChanged(Failure):
    message = "This has changed since you reviewed it; check it again"


class RejectionReasonMissing(Failure):
    field = "reason"
    message = "A rejection needs a reason"


def are_shown(access: Access) -> bool:
    """True if the store has anything to do with approvals: payouts need them, or some still wait.
    Mostly one look."""
    rule = approval_rules.rule_of(access)
    if rule is None:
        return False
    return (
        approval_rules.above_of(rule, access.now()) is not None
        or approvals_visible_to(access).filter(status=WAITING).exists()
    )


def approvals_visible_to(viewer: Viewer) -> "QuerySet[PayoutApproval]":
    rows: QuerySet[PayoutApproval] = PayoutApproval.objects.visible_to(viewer).select_related(
        "store", "maker", "decided_by", "batch"
    )
    return rows.order_by("-created_at", "-id")


def payout_of(approval: PayoutApproval) -> Payout | None:
    """The payout that was asked for; None for a list. Later payouts of a schedule lean on the first
    one's approval."""
    rows = (
        Payout.objects.visible_to(approval)
        .filter(approval=approval)
        .select_related("asset__chain", "store", "destination", "schedule")
    )
    return (
        None
        if hasattr(approval, "batch")
        else rows.defer("destination__account_sealed").order_by("created_at").first()
    )


def digest_of(approval: PayoutApproval) -> str:
    """Digest of amounts and destinations, as a short text that a person agrees to."""
    payout = payout_of(approval)
    if payout is None:
        return str(approval.batch.digest)
    where = payout.destination_id or payout.destination_address
    return hashlib.sha256(
        f"{payout.pk}:{payout.asset_id}:{payout.amount_atomic}:{where}".encode()
    ).hexdigest()


def approve(access: Access, approval: PayoutApproval, agreed: str) -> None:
    """Release it. Raises NotWaiting, OwnRequestRefused, NotAnApprover, ApprovalChanged, or what
    operations.check raises."""
    operations.check(access, operations.PAYOUT_APPROVE)
    with transaction.atomic():
        fresh = _locked(approval)
        at = clock.now(approval.store, approval.mode)
        person = _approver(access, fresh)
        if digest_of(fresh) != agreed:
            raise ApprovalChanged
        _decide(fresh, _Status.APPROVED, at, person)
        payout = payout_of(fresh)
        if payout is None:
            jobs.enqueue("payouts.release_lines")
        else:
            _let_go(payout.pk, at)
        _tell_maker(fresh, gettext_noop("Your payout was approved"), approval.pk)


def reject(access: Access, approval: PayoutApproval, reason: str) -> None:
    """It fails, and what it reserved can be spent again; its maker may do so too.

    Raises NotWaiting, RejectionReasonMissing, or what operations.check does.
    """
    operations.check(access, operations.PAYOUT_REJECT)
    if not reason.strip():
        raise RejectionReasonMissing
    with transaction.atomic():
        fresh = _locked(approval)
        at = clock.now(approval.store, approval.mode)
        _decide(fresh, _Status.REJECTED, at, access.user, reason.strip())
        _give_back(fresh, f"Rejected by an approver: {fresh.reason}", at)
        _tell_maker(fresh, gettext_noop("Your payout was rejected"), approval.pk)


def withdraw(approval: PayoutApproval, reason: str) -> None:
    """Withdraws an approval whose payout is stopped elsewhere: nobody needs to answer. Inside the
    caller's transaction."""
    fresh = (
        PayoutApproval.objects.select_for_update(no_key=True)
        .select_related("store")
        .get(pk=approval.pk)
    )
    if fresh.status == WAITING:
        _decide(fresh, _Status.REJECTED, clock.now(fresh.store, fresh.mode), None, reason)


def _locked(approval: PayoutApproval) -> PayoutApproval:
    rows = PayoutApproval.objects.select_for_update(of=("self",), no_key=True).select_related(
        "store", "maker", "batch"
    )
    fresh: PayoutApproval = rows.get(pk=approval.pk)
    if fresh.status != WAITING:
        raise NotWaiting
    return fresh


def _approver(access: Access, approval: PayoutApproval) -> User:
    """The approver, with their present membership."""
    member = (
        approval_rules.approvers(approval.store_id)
        .select_for_update(of=("self",), no_key=True)
        .filter(user=access.user)
        .first()
    )
    if member is None:
        raise NotAnApprover
    if approval.maker_id == member.user_id:
        raise OwnRequestRefused
    return member.user


def _decide(
    approval: PayoutApproval, to: str, at: datetime, person: User | None, reason: str = ""
) -> None:
    decided = {"decided_at": at, "decided_by": person, "reason": reason[: moves.TEXT_MAX]}
    states.APPROVAL.change_locked(approval, Step(to), at=at, **decided)
    details = {
        "made_by": approval.made_by,
        "worth_cents": approval.worth_cents,
        "currency": approval.currency,
    }
    audit.record(
        f"payout_approval.{to}",
        store=approval.store_id,
        mode=approval.mode,
        target=approval,
        name=approval.made_by,
        reason=reason,
        details=details,
    )


def _let_go(payout_id: uuid.UUID, at: datetime) -> None:
    """On its way, unless staff have to look at it as well."""
    rows = Payout.objects.select_for_update(of=("self",)).select_related(
        "asset__chain", "store", "destination"
    )
    payout: Payout = rows.defer("destination__account_sealed").get(pk=payout_id)
    reason = create.reason_for_review(payout, at)
    if reason:
        moves.set_columns(payout, review_reason=reason, updated_at=at)
        PayoutTransition.objects.create(
            payout=payout, from_status=payout.status, to_status=payout.status, note=reason, at=at
        )
    else:
        moves.move(payout, Payout.Status.PENDING, at, review_reason="")
        jobs.enqueue("payouts.advance", mode=payout.mode)


def _give_back(approval: PayoutApproval, reason: str, at: datetime) -> None:
    payout = payout_of(approval)
    if payout is None:
        states.LINE.change_all(
            approval.batch.lines.all(),
            _Line.QUEUED,
            Step(_Line.FAILED),
            problem=reason[: moves.TEXT_MAX],
        )
        return
    fresh = (
        Payout.objects.select_for_update(of=("self",))
        .select_related("asset__chain", "store")
        .get(pk=payout.pk)
    )
    changes = {
        "failure_code": Payout.FailureCode.UNKNOWN,
        "failure_reason": reason[: moves.TEXT_MAX],
        "retry_at": None,
    }
    if moves.move(fresh, Payout.Status.FAILED, at, reason, review_reason="", **changes):
        moves.release(fresh, at)


def _tell_maker(approval: PayoutApproval, outcome: str, about: object) -> None:
    """Sends the requester, if they work here still, one email about the decision."""
    maker = approval.maker
    if (
        maker is None
        or not maker.is_active
        or not approval.store.members.filter(user=maker).exists()
    ):
        return
    context = {
        "store": approval.store.name,
        "what": outcome,
        "reason": approval.reason,
        "by": approval.decided_by,
        "is_test": not approval.is_live,
    }
    context["path"] = f"/dashboard/approvals/{approval.pk}"
    person_mail.send(
        maker,
        key=f"payout_approval_decided:{maker.pk}:{about}",
        template="payout_approval_decided",
        context=context,
    )


# --- unanswered -----------------------------------------------------------------------------------


def expire_approvals() -> int:
    """The sweep: give back what nobody has answered; how many were looked at."""
    due = PayoutApproval.objects.filter(
        clock.is_due("expires_at", clock.real_now()), status=WAITING
    ).order_by("expires_at")
    return JOB.walk(due.values_list("pk", flat=True), expire)


def expire(id: uuid.UUID) -> None:
    """Expires an approval, inside the caller's transaction."""
    rows = PayoutApproval.objects.select_for_update(of=("self",), no_key=True).select_related(
        "store", "maker", "batch"
    )
    approval: PayoutApproval = rows.get(pk=id)
    at = clock.now(approval.store, approval.mode)
    if approval.status != WAITING or approval.expires_at > at:
        return
    _decide(approval, _Status.EXPIRED, at, None)
    _give_back(approval, UNANSWERED, at)
    _tell_maker(
        approval,
        gettext_noop("Your payout was not approved in time"),
        f"{approval.store_id}:{approval.mode}:{at.date()}",
    )  # many may expire on a day


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """For the test clock: when the store's next one expires."""
    rows = PayoutApproval.objects.filter(store_id=store_id, mode="test", status=WAITING)
    rows = rows if after is None else rows.filter(expires_at__gt=after)
    return rows.order_by("expires_at").values_list("expires_at", flat=True).first()


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    rows = PayoutApproval.objects.filter(
        store_id=store_id, mode="test", status=WAITING, expires_at__lte=now
    ).order_by("expires_at")
    for id in list(rows.values_list("pk", flat=True)):
        with transaction.atomic():
            expire(id)
