"""`remove_second_factor`: for a person who lost their phone and their backup codes, once two
members of staff know who is asking."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.access.factors import lost_factor
from apps.core import clock
from apps.stores.command import (
    OperatorCommand,
    Result,
    StaffRequestResult,
    staff_named,
    staff_request_result,
)
from apps.stores.models import User
from apps.stores.staff import four_eyes


class RemovedResult(Result, frozen=True, kw_only=True):
    """The account that has lost its factor."""

    email: str
    second_factor: None = None


class Command(OperatorCommand[RemovedResult | StaffRequestResult]):
    help = (
        "Remove the authenticator app and passkeys of an account; it signs in with its "
        "password alone until it sets up a new app"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="whose")
        parser.add_argument(
            "--staff", required=True, help="email address of the member of staff who requests it"
        )
        parser.add_argument(
            "--approved-by",
            help=(
                "email address of a second member of staff, who approves it now (default: on "
                "the staff site)"
            ),
        )
        parser.add_argument(
            "--reason", required=True, help="how you verified the person's identity"
        )

    def run(self, **options: Any) -> RemovedResult | StaffRequestResult:
        user = User.objects.with_email(options["email"])
        if user is None:
            raise CommandError("There is no account with this email address")
        staff = staff_named(options["staff"])
        at = clock.real_now()
        if not options["approved_by"]:
            return staff_request_result(
                lost_factor.request_removal(user, options["reason"], staff, at)
            )
        wish = lost_factor.wish_of(user, options["reason"])
        four_eyes.at_once(lost_factor.FACTOR, wish, staff, staff_named(options["approved_by"]), at)
        return RemovedResult(email=user.email)
