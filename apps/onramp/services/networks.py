"""Networks of a store's mode, each with its own mode's credentials. Live and test sets never mix,
whatever a row says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.conf import settings
from django.utils.module_loading import import_string

from apps.core import crypto
from apps.onramp.models import Credential
from apps.onramp.providers.base import OnrampProvider
from apps.stores.models import Store

# Networks whose secrets staff may write before a mode uses them.
NEED_SECRETS = {"onramper": "apps.onramp.providers.onramper.Onramper"}
UNCONFIGURED = "provider_unconfigured"


@dataclass(frozen=True)
class CardNetwork:
    """An adapter that is ready, or the reason why there is none."""

    name: str
    adapter: OnrampProvider | None = None
    problem: str = ""

    @property
    def ready(self) -> OnrampProvider:
        if self.adapter is None:
            raise LookupError(f"{self.name}: {self.problem}")
        return self.adapter


def networks_for(store: Store, mode: str) -> list[CardNetwork]:
    """Every network of the mode, in the order of preference."""
    entries: Sequence[Mapping[str, Any]] = settings.PROVIDERS["onramp"][mode]
    classes = [(import_string(entry["BACKEND"]), entry["OPTIONS"]) for entry in entries]
    credentials = (
        _credentials(store, mode)
        if any(adapter.needs_credentials for adapter, _ in classes)
        else {}
    )
    return [
        _network(adapter, options, mode, credentials.get(adapter.name))
        for adapter, options in classes
    ]


def network_named(store: Store, mode: str, name: str) -> CardNetwork | None:
    return next((network for network in networks_for(store, mode) if network.name == name), None)


def network_of(credential: Credential) -> CardNetwork | None:
    """The network that a credential belongs to, with just this credential."""
    entries: Sequence[Mapping[str, Any]] = settings.PROVIDERS["onramp"][credential.mode]
    for entry in entries:
        backend = import_string(entry["BACKEND"])
        if backend.name == credential.provider:
            return _network(backend, entry["OPTIONS"], credential.mode, credential)
    return None


def credential_networks() -> list[str]:
    """The networks that need secrets."""
    return sorted(NEED_SECRETS)


def key_problem(provider: str, mode: str, api_key: str) -> str:
    """Why a key may not be used in a mode; empty when it may."""
    if provider not in NEED_SECRETS:
        return UNCONFIGURED
    backend = import_string(NEED_SECRETS[provider])
    return f"live_credentials_in_{mode}" if backend.mode_of(api_key) not in (None, mode) else ""


def _credentials(store: Store, mode: str) -> dict[str, Credential]:
    """Provider -> its active credential: the store's own before that of all stores."""
    rows = Credential.objects.filter(mode=mode, is_active=True)
    general = {row.provider: row for row in rows.filter(store=None)}
    return general | {row.provider: row for row in rows.filter(store=store)}


def _network(
    backend: type[Any], options: Mapping[str, Any], mode: str, credential: Credential | None
) -> CardNetwork:
    name = str(backend.name)
    if not backend.needs_credentials:
        return CardNetwork(name, cast(OnrampProvider, backend(mode=mode, **options)))
    if credential is None:
        return CardNetwork(name, problem=UNCONFIGURED)
    api_key = crypto.decrypt(credential.sealed_api_key, credential.place("sealed_api_key"))
    if backend.mode_of(api_key) not in (None, mode):
        return CardNetwork(name, problem=f"live_credentials_in_{mode}")
    sealed = credential.sealed_webhook_secret
    secret = crypto.decrypt(sealed, credential.place("sealed_webhook_secret")) if sealed else ""
    return CardNetwork(
        name,
        cast(OnrampProvider, backend(mode=mode, api_key=api_key, webhook_secret=secret, **options)),
    )
