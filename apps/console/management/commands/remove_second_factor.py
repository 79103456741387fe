"""`remove_second_factor`: for a person who lost their phone and their backup codes, once the operator knows who is asking."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.access import second_factor
from apps.console.command import OperatorCommand
from apps.stores.models import User


class Command(OperatorCommand):
    help = "Take the authenticator app and the passkeys off an account; its password alone signs in until a new app is set up"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="whose")

    def run(self, **options: Any) -> dict[str, Any]:
        user = User.objects.with_email(options["email"])
        if user is None:
            raise CommandError("Nobody has this e-mail address")
        if second_factor.confirmed(user) is None:
            raise CommandError("This account has no second factor")
        second_factor.take_off(user)
        return {"email": user.email, "second_factor": None}
