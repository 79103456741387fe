"""`create_agent_credential`: a credential for a software agent, printed once."""

from typing import Any

from django.core.management.base import CommandParser

from apps.access.services import create_agent_credential
from apps.console.command import OperatorCommand, store_named


class Command(OperatorCommand):
    help = "Create an agent credential"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--store", required=True)
        parser.add_argument("--mode", required=True, choices=["live", "test"])
        parser.add_argument("--scopes", help="comma-separated; all eight agent scopes when left out")
        parser.add_argument("--name", default="")

    def run(self, **options: Any) -> dict[str, Any]:
        wanted = None if options["scopes"] is None else [one for one in options["scopes"].split(",") if one]
        row, text = create_agent_credential(store_named(options["store"]), options["mode"], name=options["name"], wanted=wanted)
        return {"id": str(row.pk), "credential": text, "scopes": row.scopes}
