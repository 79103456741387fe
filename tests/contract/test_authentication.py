"""Authentication: every credential, on its own surface, with its own scopes, and the refusals of
the others."""

import base64
import re
from typing import Any

import pytest
from django.conf import settings

from apps.access import credentials, scopes
from apps.access.services import create_agent_credential, create_api_key, revoke_api_key
from apps.api.plumbing.routes import PUBLIC, Route
from apps.api.urls import ROUTES
from apps.core import clock
from apps.stores.services import change_store
from tests.cast import Api, Shop
from tests.stage import empty_buckets

NOBODY = "00000000-0000-4000-8000-000000000000"
AUTHENTICATED = [
    (route, method)
    for route in ROUTES
    for method in route.scopes
    if PUBLIC not in route.scopes.values()
]
NEEDED = sorted(
    {
        (scope, route.view.for_agents)
        for route, method in AUTHENTICATED
        if (scope := route.scopes[method])
    }
)


def call(api: Api, route: Route, method: str) -> Any:
    path = "/" + re.sub(r"<str:\w+>", NOBODY, route.path)
    return api(method, path, {} if method in ("POST", "PATCH", "PUT") else None)


def test_every_path_asks_for_a_credential(db: None) -> None:
    for route, method in AUTHENTICATED:
        answer = call(Api(), route, method)
        code = "agent_credential_required" if route.view.for_agents else "authentication_required"
        told = (answer.status_code, answer.json()["error"]["code"])
        assert told == (401, code), f"{method} {route.path}"
        assert answer.headers["WWW-Authenticate"] == "Bearer", f"{method} {route.path}"


@pytest.mark.parametrize(("scope", "for_agents"), NEEDED)
def test_every_scope_is_needed_and_no_other_stands_in_for_it(
    bakery: Shop, scope: str, for_agents: bool
) -> None:
    every = scopes.AGENT if for_agents else scopes.ALL
    change_store(
        bakery.store, is_platform=True
    )  # any other store is refused on the platform paths whatever its scopes
    others = holding(bakery, for_agents, *(item for item in every if item != scope))
    alone = holding(bakery, for_agents, scope)
    for route, method in AUTHENTICATED:
        if (route.scopes[method], route.view.for_agents) != (scope, for_agents):
            continue
        answer = call(others, route, method)
        told = (answer.status_code, answer.json()["error"]["code"])
        assert told == (403, "insufficient_scope"), f"{method} {route.path}"
        assert answer.json()["error"]["message"].startswith(f"Insufficient scope: {scope} required")
        passed = call(alone, route, method)
        assert passed.status_code != 429, f"{method} {route.path}"
        assert b"insufficient_scope" not in passed.content, f"{method} {route.path}"


def holding(shop: Shop, for_agents: bool, *wanted: str) -> Api:
    """A key or an agent's credential with just these scopes."""
    if for_agents:
        return Api(create_agent_credential(shop.store, "test", scope_names=wanted)[1])
    return shop.with_scopes(*wanted)


def test_a_publishable_key_is_refused_everywhere_but_at_its_one_path(bakery: Shop) -> None:
    api = Api(bakery.secrets["test_publishable"])
    refused = [item for item in AUTHENTICATED if item[1] not in item[0].publishable]
    assert len(refused) == len(AUTHENTICATED) - 1
    for route, method in refused:
        empty_buckets()  # each of an agent's paths counts it as a failure
        answer = call(api, route, method)
        wanted = (
            (401, "agent_credential_required")
            if route.view.for_agents
            else (403, "publishable_key_forbidden")
        )
        told = (answer.status_code, answer.json()["error"]["code"])
        assert told == wanted, f"{method} {route.path}"


def header(value: str) -> Api:
    return Api(Authorization=value)


SECRET = "svc_sk_test_" + "a" * 40
BROKEN = {
    "Bearer abc": "invalid_token",
    "Bearer ": "invalid_token",
    "bearer": "invalid_token",
    "Digest x": "invalid_token",
    f"Bearer {SECRET}": "invalid_api_key",
    "Bearer svc_sk_X": "invalid_api_key",
    "Bearer svc_sk_' OR '1'='1": "invalid_api_key",
    "Bearer svc_pk_live_x": "invalid_api_key",
    "Bearer svc_sk_live_\x7f": "invalid_api_key",
    "Bearer é😀": "invalid_token",
    f"Bearer {SECRET}, Bearer {SECRET}": "invalid_api_key",
    "Basic !!!": "invalid_api_key",
    "Basic " + base64.b64encode(b"alice:password").decode(): "invalid_api_key",
    "Bearer " + "x" * 5000: "invalid_token",
}


def test_a_credential_that_is_none_is_told_so(db: None) -> None:
    for value, code in BROKEN.items():
        answer = header(value).get("/payments")
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, code), value


def test_a_key_works_as_a_basic_user_name_without_password(bakery: Shop) -> None:
    basic = base64.b64encode(f"{bakery.secrets['test']}:".encode()).decode()
    assert header(f"Basic {basic}").get("/payments").status_code == 200


def test_a_key_in_the_query_is_no_credential(bakery: Shop) -> None:
    assert Api().get(f"/payments?api_key={bakery.secrets['test']}").status_code == 401


def test_a_mistyped_key_is_refused_without_a_look_up(
    bakery: Shop, django_assert_num_queries: Any
) -> None:
    key = bakery.secrets["test"]
    mistyped = key[:20] + ("A" if key[20] != "A" else "B") + key[21:]
    with django_assert_num_queries(0):
        assert Api(mistyped).get("/payments").status_code == 401


def test_a_revoked_key_is_unknown(bakery: Shop) -> None:
    key, secret = create_api_key(bakery.store, "test")
    assert Api(secret).get("/payments").status_code == 200
    revoke_api_key(key, clock.real_now())
    assert Api(secret).get("/payments").json()["error"]["code"] == "invalid_api_key"


def test_an_agent_credential_is_no_api_key(bakery: Shop) -> None:
    answer = Api(bakery.secrets["test_agent"]).get("/payments")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


def test_forty_failures_block_failing_credentials_of_an_address_only(bakery: Shop) -> None:
    bad = header(f"Bearer {SECRET}")
    assert {
        bad.get("/payments").status_code for _ in range(settings.FAILED_AUTHENTICATIONS_MAX)
    } == {401}
    refused = bad.get("/payments")
    assert (refused.status_code, refused.json()["error"]["code"]) == (
        429,
        "too_many_failed_attempts",
    )
    assert int(refused.headers["Retry-After"]) >= 1
    assert bakery.test.get("/payments").status_code == 200
    elsewhere = bad.client.get("/api/v2/payments", headers=bad.headers, REMOTE_ADDR="10.9.8.7")
    assert elsewhere.status_code == 401


def test_a_forwarded_address_counts_only_behind_a_known_proxy(settings: Any, bakery: Shop) -> None:
    bad = header(f"Bearer {SECRET}")
    for n in range(41):
        last = bad.get("/payments", **{"X-Forwarded-For": f"203.0.113.{n}"})
    assert last.status_code == 429
    settings.TRUSTED_PROXY_HOPS = 1
    assert bad.get("/payments", **{"X-Forwarded-For": "203.0.113.99"}).status_code == 401


@pytest.mark.parametrize(
    "prefix", [*credentials.KEY_PREFIXES, *credentials.AGENT_PREFIXES.values()]
)
def test_a_credential_is_forty_characters_of_which_six_are_its_checksum(prefix: str) -> None:
    text = credentials.mint(prefix)
    assert len(text) == len(prefix) + 40
    assert credentials.is_well_formed(text, prefix)
    assert not credentials.is_well_formed(text[:-1] + ("0" if text[-1] != "0" else "1"), prefix)
    assert credentials.mint(prefix) != text


def test_secrets_are_not_in_the_database(bakery: Shop) -> None:
    from apps.access.models import ApiKey

    secret = bakery.secrets["test"]
    key = ApiKey.objects.get(store=bakery.store)
    assert bytes(key.secret_hash) != secret.encode()
    assert (len(key.prefix), len(key.last_four)) == (12, 4)
