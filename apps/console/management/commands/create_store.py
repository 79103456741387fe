"""`create_store`: a store with its owner, keys of both modes and an agent credential per mode.
Secrets are printed once."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from apps.access import scopes
from apps.access.services import create_agent_credential, create_api_key
from apps.agents.models import AuthorizationProvider
from apps.assets.services import accept_all_active
from apps.stores.command import OperatorCommand, Result, fraction
from apps.stores.models import Store, User
from apps.stores.requests import StoreRequest
from apps.stores.services import change_store, create_store, create_user


class NamedStore(Result, frozen=True, kw_only=True):
    id: str
    name: str


class Person(Result, frozen=True, kw_only=True):
    email: str


class StoreResult(Result, frozen=True, kw_only=True):
    """A store with its credentials, which are shown this once: keys by mode and kind, agents' by
    mode."""

    store: NamedStore
    user: Person
    keys: dict[str, dict[str, str]]
    agents: dict[str, str]


class Command(OperatorCommand[StoreResult]):
    help = "Create a store, its owner and its credentials"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", required=True)
        parser.add_argument("--email", required=True)
        parser.add_argument("--password", required=True)
        parser.add_argument("--country", default="")
        parser.add_argument("--currency", default="EUR")
        parser.add_argument("--kyc", action="store_true", help="mark the store as verified")

        parser.add_argument(
            "--platform",
            action="store_true",
            help="approve the store as a platform, with the accounts scopes on its secret keys",
        )
        parser.add_argument(
            "--platform-fee",
            type=fraction,
            help="the platform's fee on a payment, as a fraction of 1",
        )
        parser.add_argument("--card-funding", action="store_true", help="allow card payments")
        parser.add_argument(
            "--authorization-provider",
            choices=AuthorizationProvider.values,
            default=AuthorizationProvider.NONE,
        )
        parser.add_argument(
            "--x402-dispatch",
            action="store_true",
            help="send agent settlements on the chain",
        )

    @transaction.atomic
    def run(self, **options: Any) -> StoreResult:
        country = options["country"].upper() or None
        currency = options["currency"]
        request = StoreRequest.read(
            {"name": options["name"], "country": country, "settlement_currency": currency}
        )
        user = User.objects.with_email(options["email"]) or create_user(
            options["email"], options["password"]
        )
        store = create_store(user, request, is_kyc_confirmed=options["kyc"])
        change_store(
            store,
            is_platform=options["platform"],
            platform_fee_fraction=options["platform_fee"],
            card_funding_live=options["card_funding"],
            card_funding_test=options["card_funding"],
            authorization_provider=options["authorization_provider"],
            x402_dispatch=options["x402_dispatch"],
        )
        return open_store(store, user)


def open_store(store: Store, user: User) -> StoreResult:
    """Accept every active asset and make the credentials, each of which can create payments; what
    `create_store` prints."""
    change_store(store, publishable_key_amounts=True)
    accept_all_active(store)
    granted = scopes.ALL if store.is_platform else scopes.DEFAULT
    keys: dict[str, dict[str, str]] = {"live": {}, "test": {}}
    for mode, secrets in keys.items():
        for kind in ("secret", "publishable"):
            secrets[kind] = create_api_key(
                store, mode, name=f"First {kind} key", key_type=kind, scope_names=granted
            )[1]
    agents = {
        mode: create_agent_credential(store, mode, name="First agent")[1]
        for mode in ("live", "test")
    }
    named_store = NamedStore(id=str(store.pk), name=store.name)
    person = Person(email=user.email)
    return StoreResult(store=named_store, user=person, keys=keys, agents=agents)
