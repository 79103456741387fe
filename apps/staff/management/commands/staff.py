"""`staff`: who is staff, in which roles; and what waits for a second member of staff."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from apps.core import clock
from apps.core.messages.fields import is_uuid
from apps.staff.decisions.kinds import KINDS
from apps.stores.command import (
    OperatorCommand,
    Result,
    StaffRequestResult,
    staff_named,
    staff_request_result,
)
from apps.stores.models import StaffRequest, User
from apps.stores.services import create_user
from apps.stores.staff import four_eyes, staffing
from apps.stores.staff_roles import StaffRole, roles_of


class RolesResult(Result, frozen=True, kw_only=True):
    """Somebody's roles as they are now."""

    email: str
    roles: list[str]


class StaffMemberResult(Result, frozen=True, kw_only=True):
    email: str
    active: bool
    roles: list[str]


class StaffResult(Result, frozen=True, kw_only=True):
    """Members of staff, and requests that wait for a second one of them."""

    staff: list[StaffMemberResult]
    waiting: list[StaffRequestResult]


class Command(OperatorCommand[StaffResult | RolesResult | StaffRequestResult]):
    help = "Show staff and their open requests, set someone's roles, or approve or reject a request"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "action", nargs="?", default="show", choices=["show", "set", "approve", "reject"]
        )
        parser.add_argument(
            "what", nargs="?", help="email address (set) or request ID (approve, reject)"
        )
        parser.add_argument(
            "--roles",
            help=f"of {', '.join(StaffRole.values)}, separated by commas; empty for none (set)",
        )
        parser.add_argument(
            "--password", help="create the account with this password if it doesn't exist (set)"
        )
        parser.add_argument(
            "--staff",
            help=(
                "email address of the member of staff who requests or decides; not needed "
                "until there are two admins"
            ),
        )
        parser.add_argument(
            "--approved-by",
            help="email address of a second member of staff, who approves it now (set)",
        )
        parser.add_argument("--reason", default="", help="saved with the decision")

    def run(self, **options: Any) -> StaffResult | RolesResult | StaffRequestResult:
        if options["action"] == "set":
            return _set(options)
        if options["action"] in ("approve", "reject"):
            return _decide(options)
        waiting = StaffRequest.objects.filter(state=StaffRequest.State.PENDING).select_related(
            "asked_by", "decided_by"
        )
        people = User.objects.filter(is_staff=True).order_by("email")
        return StaffResult(
            staff=[
                StaffMemberResult(
                    email=person.email, active=person.is_active, roles=sorted(roles_of(person))
                )
                for person in people
            ],
            waiting=[staff_request_result(row) for row in waiting.order_by("asked_at")],
        )


@transaction.atomic
def _set(options: Mapping[str, Any]) -> RolesResult | StaffRequestResult:
    if options["roles"] is None:
        raise CommandError("Give --roles")
    roles = sorted({role.strip() for role in options["roles"].split(",") if role.strip()})
    person = User.objects.with_email(options["what"] or "")
    if person is None and options["password"]:
        person = create_user(options["what"], options["password"])
    if person is None:
        raise CommandError(
            "There is no account with this email address; give --password to create it"
        )
    wish = staffing.wish_of(person, roles, options["reason"])
    at = clock.real_now()
    if len(staffing.admins()) < 2 and not options["staff"]:  # nobody could be the second
        staffing.set_roles(person, roles, options["reason"])
    elif options["approved_by"]:
        four_eyes.at_once(
            staffing.ROLES,
            wish,
            staff_named(options["staff"]),
            staff_named(options["approved_by"]),
            at,
        )
    else:
        request = staffing.request_roles(
            person, roles, options["reason"], staff_named(options["staff"]), at
        )
        if request is not None:
            return staff_request_result(request)
    person.refresh_from_db()
    return RolesResult(email=person.email, roles=sorted(roles_of(person)))


def _decide(options: Mapping[str, Any]) -> StaffRequestResult:
    row = (
        StaffRequest.objects.filter(pk=options["what"]).first()
        if is_uuid(options["what"] or "")
        else None
    )
    if row is None:
        raise CommandError(f"There is no request {options['what']}")
    kind = KINDS[row.kind]
    staff = staff_named(options["staff"])
    at = clock.real_now()
    if options["action"] == "reject":
        return staff_request_result(
            four_eyes.reject(kind, row.pk, staff, at, reason=options["reason"])
        )
    return staff_request_result(
        four_eyes.approve(kind, row.pk, staff, at, digest=row.digest, reason=options["reason"])
    )
