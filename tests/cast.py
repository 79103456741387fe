"""The cast of the tests: alice owns Alice's Bakery, bob works there as a developer, charlie is a stranger with a store of his own."""

import uuid
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.contrib.auth.hashers import make_password
from django.test import Client

from apps.access.access import Access
from apps.access.services import authenticate, create_agent_credential, create_api_key
from apps.assets.services import accept_all_active
from apps.core import clock
from apps.stores.models import Member, Role, Store, User
from apps.stores.services import create_store
from tests import described

PASSWORD = "correct horse battery"


class Api:
    """One credential's view of the API. Every answer is held against the API description."""

    def __init__(self, credential: str | None = None, **headers: str) -> None:
        self.client = Client()
        self.headers = {**({"Authorization": f"Bearer {credential}"} if credential else {}), **headers}

    def __call__(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, raw: bytes | None = None, **headers: str
    ) -> Any:
        content = {} if body is None and raw is None else {"data": raw if raw is not None else body, "content_type": "application/json"}
        sent = {**self.headers, **headers, **({"Idempotency-Key": key} if key is not None else {})}
        answer = getattr(self.client, method.lower())(f"/api/v2{path}", headers=sent, **content)
        described.check(method, answer)
        return answer

    def get(self, path: str, **headers: str) -> Any:
        return self("GET", path, **headers)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return self("POST", path, {} if body is None else body, **options)

    def patch(self, path: str, body: Any = None, **options: Any) -> Any:
        return self("PATCH", path, {} if body is None else body, **options)

    def delete(self, path: str, **headers: str) -> Any:
        return self("DELETE", path, **headers)


@dataclass
class Shop:
    """A store with its owner and a client per credential."""

    store: Store
    owner: User
    secrets: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for mode in ("live", "test"):
            self.secrets[mode] = create_api_key(self.store, mode)[1]
            self.secrets[f"{mode}_publishable"] = create_api_key(self.store, mode, key_type="publishable")[1]
            self.secrets[f"{mode}_agent"] = create_agent_credential(self.store, mode)[1]
        self.live, self.test = Api(self.secrets["live"]), Api(self.secrets["test"])

    def access(self, mode: str = "test") -> Access:
        return authenticate(self.secrets[mode])

    def with_scopes(self, *scopes: str, mode: str = "test") -> Api:
        return Api(create_api_key(self.store, mode, wanted=scopes)[1])


@cache
def _hashed() -> str:
    """Argon2 is slow on purpose: everybody in the cast has the one password, hashed once."""
    return make_password(PASSWORD)


def person(name: str) -> User:
    return User.objects.create(email=f"{name}-{uuid.uuid4().hex[:8]}@example.com", name=name.title(), password=_hashed())


def shop_of(owner: User, name: str, **options: Any) -> Shop:
    store = create_store(owner, name, **options)
    accept_all_active(store)
    return Shop(store, owner)


@dataclass
class Cast:
    """Everybody, with alice's and charlie's shops."""

    alice: User
    bob: User
    charlie: User
    bakery: Shop
    strangers: Shop


def assemble() -> Cast:
    alice, bob, charlie = person("alice"), person("bob"), person("charlie")
    bakery, strangers = shop_of(alice, "Alice's Bakery"), shop_of(charlie, "Charlie's")
    Member.objects.create(store=bakery.store, user=bob, role=Role.DEVELOPER, created_at=clock.real_now())
    return Cast(alice, bob, charlie, bakery, strangers)
