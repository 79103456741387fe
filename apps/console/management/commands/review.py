"""`review`: the decision that a person takes about something that waits for one; the same services
as in the admin."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.assets.models import AcceptedAsset
from apps.assets.reviews import end_review, keep_stopped
from apps.core.errors import Failure
from apps.core.messages.fields import is_uuid
from apps.payouts.models import Payout
from apps.payouts.services.rejection import reject_payout
from apps.payouts.services.review import approve_payout, release_held
from apps.payouts.services.stops import held_for_stops
from apps.platforms.models import AccessRequest
from apps.platforms.services.access_requests import approve_access, reject_access
from apps.platforms.services.verifications import approve_verification, reject_verification
from apps.stores.command import (
    OperatorCommand,
    Result,
    StaffRequestResult,
    staff_named,
    staff_request_result,
)
from apps.stores.models import StaffRequest, User, Verification, WorkerOrder


class ReviewResult(Result, frozen=True, kw_only=True):
    """State of the request."""

    id: str
    status: str


class WaitingResult(ReviewResult, frozen=True, kw_only=True):
    """It is unchanged: a second member of staff has been asked."""

    request: StaffRequestResult


def _payout(
    row_id: str, decision: str, reason: str, staff: User | None, second: User | None
) -> ReviewResult:
    payout = Payout.objects.filter(pk=row_id).select_related("store").first()
    if payout is None:
        raise CommandError(f"There is no payout {row_id}")
    decided = (
        approve_payout(payout, reason, staff, second)
        if decision == "approve"
        else reject_payout(payout, reason, staff)
    )
    if isinstance(decided, StaffRequest):
        return WaitingResult(id=row_id, status=payout.status, request=staff_request_result(decided))
    if isinstance(decided, WorkerOrder):
        return ReviewResult(id=row_id, status=payout.status)
    return ReviewResult(id=str(decided.pk), status=decided.status)


class StoppedResult(ReviewResult, frozen=True, kw_only=True):
    """The asset, and what has become of the payouts that waited for it: how many are released, sent
    for a second approval, or still held."""

    payouts: dict[str, int]


def _stopped_asset(
    place: str,
    decision: str,
    reason: str,
    people: tuple[User | None, User | None],
    *,
    releases: bool,
) -> StoppedResult:
    store_id, _, rest = place.partition(":")
    mode, _, asset_id = rest.partition(":")
    rows = AcceptedAsset.objects.filter(mode=mode, asset=asset_id) if is_uuid(store_id) else None
    row = rows.filter(store=store_id).first() if rows is not None else None
    if row is None:
        raise CommandError(f"There is no asset {place}: say STORE:MODE:ASSET")
    if decision == "reject":
        return StoppedResult(id=place, status=keep_stopped(row, reason).status, payouts={})
    if row.suspended_at is not None:
        row = end_review(row, reason)
    done: Counter[str] = Counter()
    for payout in list(held_for_stops(row)) if releases else []:
        try:
            done[release_held(payout, reason, *people)] += 1
        except Failure:
            done["held"] += 1
    return StoppedResult(id=place, status=row.status, payouts=dict(done))


def _verification(row_id: str, decision: str, reason: str) -> ReviewResult:
    row = Verification.objects.filter(pk=row_id).first()
    if row is None:
        raise CommandError(f"There is no verification {row_id}")
    decided = (
        approve_verification(row, reason)
        if decision == "approve"
        else reject_verification(row, reason)
    )
    return ReviewResult(id=str(decided.pk), status=decided.status)


def _platform_access(row_id: str, decision: str, reason: str) -> ReviewResult:
    row = AccessRequest.objects.filter(pk=row_id).first()
    if row is None:
        raise CommandError(f"There is no request for platform access {row_id}")
    decided = approve_access(row, reason) if decision == "approve" else reject_access(row, reason)
    return ReviewResult(id=str(decided.pk), status=decided.status)


# What can be decided about -> how. Each takes an id, approve or reject, and the reason.
KINDS: dict[str, Callable[[str, str, str], ReviewResult]] = {
    "verification": _verification,
    "platform_access": _platform_access,
}


MONEY = ("payout", "stopped_asset")


class Command(OperatorCommand[ReviewResult]):
    help = "Approve or reject: " + ", ".join([*KINDS, *MONEY])

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=[*KINDS, *MONEY])
        parser.add_argument("id", help="of a stopped asset: STORE:MODE:ASSET")
        parser.add_argument("decision", choices=["approve", "reject"])
        parser.add_argument(
            "--reason",
            default="",
            help="required for rejections and for decisions that need two people",
        )
        parser.add_argument(
            "--staff",
            help=(
                "email address of the member of staff who decides (payout; required when it "
                "needs two people)"
            ),
        )
        parser.add_argument(
            "--approved-by",
            help="email address of a second member of staff, who approves it now (payout)",
        )

        parser.add_argument(
            "--payouts",
            action="store_true",
            help="also release every payout that waited for the asset (stopped_asset)",
        )

    def run(self, **options: Any) -> ReviewResult:
        people = (
            staff_named(options["staff"]) if options["staff"] else None,
            staff_named(options["approved_by"]) if options["approved_by"] else None,
        )
        decision, reason = options["decision"], options["reason"]
        if options["kind"] == "stopped_asset":
            releases = options["payouts"]
            return _stopped_asset(options["id"], decision, reason, people, releases=releases)
        if not is_uuid(options["id"]):
            raise CommandError(f"There is no {options['kind']} {options['id']}")
        if options["kind"] == "payout":
            return _payout(options["id"], decision, reason, *people)
        return KINDS[options["kind"]](options["id"], decision, reason)
