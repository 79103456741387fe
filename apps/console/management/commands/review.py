"""`review`: the decision that a person takes about something that waits for one; the same services
as in the admin."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.core.messages.fields import is_uuid
from apps.payouts.models import Payout
from apps.payouts.services.review import approve_payout, reject_payout
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
from apps.stores.models import StaffRequest, User, Verification


class ReviewResult(Result, frozen=True, kw_only=True):
    """Where it stands now."""

    id: str
    status: str


class WaitingResult(ReviewResult, frozen=True, kw_only=True):
    """It stands where it stood: a second member of staff has been asked."""

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
    return ReviewResult(id=str(decided.pk), status=decided.status)


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


class Command(OperatorCommand[ReviewResult]):
    help = "Approve or reject: " + ", ".join([*KINDS, "payout"])

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=[*KINDS, "payout"])
        parser.add_argument("id")
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

    def run(self, **options: Any) -> ReviewResult:
        if not is_uuid(options["id"]):
            raise CommandError(f"There is no {options['kind']} {options['id']}")
        if options["kind"] == "payout":
            staff, second = (
                staff_named(options[name]) if options[name] else None
                for name in ("staff", "approved_by")
            )
            return _payout(options["id"], options["decision"], options["reason"], staff, second)
        return KINDS[options["kind"]](options["id"], options["decision"], options["reason"])
