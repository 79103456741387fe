"""The cast of the tests: alice owns Alice's Bakery, bob works there as a developer, charlie is a
stranger with a store of his own."""

import uuid
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from django.contrib.auth.hashers import make_password
from django.test import Client

from apps.access import credentials
from apps.access.access import ACT, Access
from apps.access.factors import second_factor
from apps.access.models import AgentCredential
from apps.access.services import authenticate, create_agent_credential, create_api_key
from apps.assets.services import accept_all_active
from apps.core import clock
from apps.stores.auditing import audit
from apps.stores.models import Member, Role, Store, User
from apps.stores.requests import StoreRequest
from apps.stores.services import create_store
from tests import described

PASSWORD = "correct horse battery"


def signed_in(user: User, store: Store, mode: str = "test", role: str = Role.OWNER) -> Access:
    """A person with a second factor, who has just shown a code for what they do."""
    if second_factor.confirmed(user) is None:
        second_factor.switch_on(user, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    return Access.for_session(user, store, mode, role, proof=ACT)


class Api:
    """One credential's view of the API. Every answer is held against the API description."""

    def __init__(self, credential: str | None = None, **headers: str) -> None:
        self.client = Client()
        self.headers = {
            **({"Authorization": f"Bearer {credential}"} if credential else {}),
            **headers,
        }

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        raw: bytes | None = None,
        **headers: Any,
    ) -> Any:
        content = (
            {}
            if body is None and raw is None
            else {"data": raw if raw is not None else body, "content_type": "application/json"}
        )
        sent = {**self.headers, **headers, **({"Idempotency-Key": key} if key is not None else {})}
        answer = getattr(self.client, method.lower())(f"/api/v2{path}", headers=sent, **content)
        described.check(method, answer)
        return answer

    def get(self, path: str, **headers: Any) -> Any:
        return self("GET", path, **headers)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return self("POST", path, {} if body is None else body, **options)

    def patch(self, path: str, body: Any = None, **options: Any) -> Any:
        return self("PATCH", path, {} if body is None else body, **options)

    def delete(self, path: str, **headers: Any) -> Any:
        return self("DELETE", path, **headers)


class Secrets(dict[str, str]):
    """Credential -> its text: `live`, `test`, and both with `_publishable` or `_agent`. Most tests
    use one of the six, so each is made when it is asked for."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store

    def __missing__(self, name: str) -> str:
        mode, _, kind = name.partition("_")
        if kind == "agent":
            secret = create_agent_credential(self.store, mode)[1]
        else:
            secret = create_api_key(self.store, mode, key_type=kind or "secret")[1]
        self[name] = secret
        return secret


@dataclass
class Shop:
    """A store with its owner and a client per credential."""

    store: Store
    owner: User

    def __post_init__(self) -> None:
        self.secrets = Secrets(self.store)

    @cached_property
    def live(self) -> Api:
        return Api(self.secrets["live"])

    @cached_property
    def test(self) -> Api:
        return Api(self.secrets["test"])

    @cached_property
    def _rows(self) -> tuple[Store, User]:
        """Rows as they are when the first of the tests begins from them, and so at each one's
        beginning."""
        return Store.objects.get(pk=self.store.pk), User.objects.get(pk=self.owner.pk)

    def again(self) -> "Shop":
        """The cast with rows of its own, for one of several tests that begin from it."""
        found = Shop(*deepcopy(self._rows))
        found.secrets.update(self.secrets)
        return found

    def agent(self, mode: str = "test") -> AgentCredential:
        digest = credentials.digest(self.secrets[f"{mode}_agent"])
        return AgentCredential.objects.get(secret_hash=digest)

    def access(self, mode: str = "test") -> Access:
        return authenticate(self.secrets[mode])

    def owner_access(self, mode: str = "test") -> Access:
        return signed_in(self.owner, self.store, mode)

    def with_scopes(self, *scopes: str, mode: str = "test") -> Api:
        return Api(create_api_key(self.store, mode, scope_names=scopes)[1])


@cache
def _hashed() -> str:
    """Argon2 is slow on purpose: everybody in the cast has the one password, hashed once."""
    return make_password(PASSWORD)


def person(name: str) -> User:
    return User.objects.create(
        email=f"{name}-{uuid.uuid4().hex[:8]}@example.com", name=name.title(), password=_hashed()
    )


def shop_of(owner: User, name: str, **options: Any) -> Shop:
    request = StoreRequest(name=name, settlement_currency="EUR")
    store = create_store(owner, request, **options)
    accept_all_active(store)
    return Shop(store, owner)


def join(store: Store, user: User, role: str) -> Member:
    """A person joins the store's team, as the audit log has it."""
    member = Member.objects.create(store=store, user=user, role=role, created_at=clock.real_now())
    audit.record("member.joined", store=store, target=user, name=user.email, details={"role": role})
    return member


@dataclass
class Cast:
    """Everybody, with alice's and charlie's shops. Who isn't in a test is never made."""

    alice: User
    bakery: Shop

    @cached_property
    def bob(self) -> User:
        bob = person("bob")
        join(self.bakery.store, bob, Role.DEVELOPER)
        return bob

    @cached_property
    def strangers(self) -> Shop:
        return shop_of(person("charlie"), "Charlie's")

    @property
    def charlie(self) -> User:
        return self.strangers.owner

    def copy(self) -> "Cast":
        """The cast as it was made, with rows of its own, and without credentials."""
        alice, store = deepcopy((self.alice, self.bakery.store))
        return Cast(alice, Shop(store, alice))

    @cached_property
    def _bob(self) -> User:
        return User.objects.get(pk=self.bob.pk)

    def again(self) -> "Cast":
        """As Shop.again, for everybody who has been made."""
        bakery = self.bakery.again()
        found = Cast(bakery.owner, bakery)
        if "bob" in vars(self):
            found.bob = deepcopy(self._bob)
        if "strangers" in vars(self):
            found.strangers = self.strangers.again()
        return found


def assemble() -> Cast:
    alice = person("alice")
    return Cast(alice, shop_of(alice, "Alice's Bakery"))
