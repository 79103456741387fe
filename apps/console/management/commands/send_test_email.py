"""`send_test_email`: whether mail leaves this machine."""

from typing import Any

from django.core.mail import send_mail
from django.core.management.base import CommandError, CommandParser

from apps.console.command import OperatorCommand, Result


class TestEmailResult(Result, frozen=True, kw_only=True):
    """Whom it went to."""

    sent_to: str


class Command(OperatorCommand[TestEmailResult]):
    help = "Send one e-mail through the configured server"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("to", help="who gets it")

    def run(self, **options: Any) -> TestEmailResult:
        try:
            send_mail(
                "Tillgate can send mail",
                "If you read this, mail leaves your Tillgate.",
                None,
                [options["to"]],
            )
        except OSError as error:
            raise CommandError(f"The mail could not be sent: {error}") from None
        return TestEmailResult(sent_to=options["to"])
