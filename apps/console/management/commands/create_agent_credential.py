"""`create_agent_credential`: a credential for a software agent, printed once."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from apps.access.services import create_agent_credential
from apps.agents.services.payouts import set_cap
from apps.agents.services.tokens import find_token
from apps.assets.models import Asset
from apps.stores.command import OperatorCommand, Result, store_named


class AgentCredentialResult(Result, frozen=True, kw_only=True):
    """The credential itself is shown this once."""

    id: str
    credential: str
    scopes: list[str]


class Command(OperatorCommand[AgentCredentialResult]):
    help = "Create an agent credential"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--store", required=True)
        parser.add_argument("--mode", required=True, choices=["live", "test"])
        parser.add_argument("--scopes", help="comma-separated (default: all eight agent scopes)")
        parser.add_argument("--name", default="")
        parser.add_argument(
            "--cap",
            action="append",
            default=[],
            metavar="ASSET:PER_TX:DAILY",
            help="in atomic units; an empty part means no cap",
        )

    @transaction.atomic
    def run(self, **options: Any) -> AgentCredentialResult:
        chosen = (
            None
            if options["scopes"] is None
            else [value for value in options["scopes"].split(",") if value]
        )
        caps = [_cap(value) for value in options["cap"]]
        row, text = create_agent_credential(
            store_named(options["store"]), options["mode"], name=options["name"], scope_names=chosen
        )
        for asset, per_tx, daily in caps:
            set_cap(row, asset, per_tx, daily)
        return AgentCredentialResult(id=str(row.pk), credential=text, scopes=row.scopes)


def _cap(text: str) -> tuple[Asset, int | None, int | None]:
    parts = text.split(":")
    numbers = parts[1:]
    if (
        len(parts) != 3
        or not any(numbers)
        or not all(
            number == "" or (number.isascii() and number.isdigit() and len(number) <= 60)
            for number in numbers
        )
    ):
        raise CommandError(f"{text!r} must have the form ASSET:PER_TX:DAILY, in atomic units")
    per_tx, daily = (int(number) if number else None for number in numbers)
    return find_token(parts[0]), per_tx, daily
