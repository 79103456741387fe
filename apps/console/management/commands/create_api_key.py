"""`create_api_key`: another key of a store, printed once."""

from typing import Any

from django.core.management.base import CommandParser

from apps.access.services import create_api_key
from apps.stores.command import OperatorCommand, Result, store_named


class ApiKeyResult(Result, frozen=True, kw_only=True):
    """The key itself is shown this once."""

    id: str
    key: str
    scopes: list[str]


class Command(OperatorCommand[ApiKeyResult]):
    help = "Create an API key"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--store", required=True)
        parser.add_argument("--mode", required=True, choices=["live", "test"])
        parser.add_argument("--type", default="secret", choices=["secret", "publishable"])
        parser.add_argument(
            "--scopes", help="comma-separated (default: all but the accounts scopes)"
        )
        parser.add_argument("--name", default="")

    def run(self, **options: Any) -> ApiKeyResult:
        chosen = (
            None
            if options["scopes"] is None
            else [scope for scope in options["scopes"].split(",") if scope]
        )
        key, text = create_api_key(
            store_named(options["store"]),
            options["mode"],
            name=options["name"],
            key_type=options["type"],
            scope_names=chosen,
        )
        return ApiKeyResult(id=str(key.pk), key=text, scopes=key.scopes)
