"""`create_store`: a store with its owner, keys of both modes and an agent credential per mode. Secrets are printed once."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from apps.access.services import create_agent_credential, create_api_key
from apps.assets.services import accept_all_active
from apps.console.command import OperatorCommand
from apps.stores.models import Store, User
from apps.stores.services import create_store, create_user


class Command(OperatorCommand):
    help = "Create a store, its owner and its credentials"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", required=True)
        parser.add_argument("--email", required=True)
        parser.add_argument("--password", required=True)
        parser.add_argument("--country", default="")
        parser.add_argument("--currency", default="EUR")
        parser.add_argument("--kyc", action="store_true", help="the store's verification is confirmed")

    @transaction.atomic
    def run(self, **options: Any) -> dict[str, Any]:
        user = User.objects.filter(email__iexact=options["email"]).first() or create_user(options["email"], options["password"])
        store = create_store(
            user, options["name"], country=options["country"], settlement_currency=options["currency"], is_kyc_confirmed=options["kyc"]
        )
        return open_store(store, user)


def open_store(store: Store, user: User) -> dict[str, Any]:
    """Accept every active asset and make the credentials; what `create_store` prints."""
    accept_all_active(store)
    keys = {
        mode: {kind: create_api_key(store, mode, name=f"First {kind} key", key_type=kind)[1] for kind in ("secret", "publishable")}
        for mode in ("live", "test")
    }
    agents = {mode: create_agent_credential(store, mode, name="First agent")[1] for mode in ("live", "test")}
    return {"store": {"id": str(store.pk), "name": store.name}, "user": {"email": user.email}, "keys": keys, "agents": agents}
