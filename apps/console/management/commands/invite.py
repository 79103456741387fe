"""`invite`: a link by email, with which somebody creates an account and their first store."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.access.person import sign_up
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid
from apps.stores.command import OperatorCommand, Result
from apps.stores.models import User


class InvitationResult(Result, frozen=True, kw_only=True):
    """The recipient of the invitation."""

    invited: str


class Command(OperatorCommand[InvitationResult]):
    help = "Invite someone to create an account and a store"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="email address to invite; the link is valid for a week")

    def run(self, **options: Any) -> InvitationResult:
        if sign_up.is_closed():
            raise CommandError("SIGN_UP is closed: the link can't be used to sign up")
        if User.objects.with_email(options["email"]) is not None:
            raise CommandError(f"{options['email']} already has an account")
        try:
            return InvitationResult(invited=sign_up.invite(options["email"]))
        except (Failure, Invalid) as refusal:
            raise CommandError(str(refusal)) from None
