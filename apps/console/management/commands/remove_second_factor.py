"""`remove_second_factor`: for a person who lost their phone and their backup codes, once two
members of staff know who is asking."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.access import lost_factor
from apps.console.command import (
    OperatorCommand,
    Result,
    StaffRequestResult,
    staff_named,
    staff_request_result,
)
from apps.core import clock
from apps.stores import four_eyes
from apps.stores.models import User


class RemovedResult(Result, frozen=True, kw_only=True):
    """Whose it was."""

    email: str
    second_factor: None = None


class Command(OperatorCommand[RemovedResult | StaffRequestResult]):
    help = (
        "Take the authenticator app and the passkeys off an account; its password alone signs in"
        " until a new app is set up"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="whose")
        parser.add_argument(
            "--staff", required=True, help="email address of the member of staff who asks for it"
        )
        parser.add_argument(
            "--approved-by",
            help="email address of the second one, who approves it at once; else in the admin",
        )
        parser.add_argument("--reason", required=True, help="how you know who is asking")

    def run(self, **options: Any) -> RemovedResult | StaffRequestResult:
        user = User.objects.with_email(options["email"])
        if user is None:
            raise CommandError("Nobody has this email address")
        staff = staff_named(options["staff"])
        at = clock.real_now()
        if not options["approved_by"]:
            return staff_request_result(
                lost_factor.request_removal(user, options["reason"], staff, at)
            )
        wish = lost_factor.wish_of(user, options["reason"])
        four_eyes.at_once(lost_factor.FACTOR, wish, staff, staff_named(options["approved_by"]), at)
        return RemovedResult(email=user.email)
