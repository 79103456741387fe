"""`send_test_email`: whether mail leaves this machine."""

from typing import Any

from django.core.mail import send_mail
from django.core.management.base import CommandError, CommandParser

from apps.stores.command import OperatorCommand, Result


class TestEmailResult(Result, frozen=True, kw_only=True):
    """The recipient of the test email."""

    sent_to: str


class Command(OperatorCommand[TestEmailResult]):
    help = "Send a test email through the configured server"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("to", help="recipient")

    def run(self, **options: Any) -> TestEmailResult:
        try:
            send_mail(
                "Tillgate can send email",
                "This is a test. Your Tillgate can send email.",
                None,
                [options["to"]],
            )
        except OSError as error:
            raise CommandError(f"The email couldn't be sent: {error}") from None
        return TestEmailResult(sent_to=options["to"])
