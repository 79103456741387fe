"""No oracle: an id of another store, of the other mode, or that is no id, is answered byte for byte like an unknown one."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.api.plumbing.routes import PUBLIC
from apps.api.urls import ROUTES
from tests import make
from tests.cast import Api, Cast

UNKNOWN = "00000000-0000-4000-8000-000000000000"
NOT_IDS = [
    "x", "ABCDEFGH12345678", UNKNOWN.replace("-", ""), "{" + UNKNOWN + "}", "urn:uuid:" + UNKNOWN, UNKNOWN[:-1] + "８", "%00", "5", "-1",
]  # fmt: skip
ID_ROUTES = [
    pytest.param(route, method, id=f"{method} {route.path}")
    for route in ROUTES
    for method in route.scopes
    if "<str:id>" in route.path and PUBLIC not in route.scopes.values() and not route.path.startswith(("api_keys", "merchants/oauth_apps"))
]


def _endpoint(api: Api) -> str:
    body = {"webhook_endpoint": {"url": "https://1.1.1.1/hook", "subscribed_events": ["invoice.paid"]}}
    return str(api.post("/webhook_endpoints", body).json()["id"])


# What the id of a path is of, by how the path begins.
MAKERS: dict[str, Callable[[Api], str]] = {
    "payments": lambda api: str(make.payment(api)["id"]),
    "payment_intents": lambda api: str(make.payment(api)["id"]),
    "webhook_endpoints": _endpoint,
}


def call(api: Api, route: Any, method: str, id: str) -> tuple[int, bytes]:
    body = {} if method in ("POST", "PATCH") else None
    answer = api(method, "/" + route.path.replace("<str:id>", id), body, key="one-key" if method == "POST" else None)
    return answer.status_code, answer.content


@pytest.mark.parametrize(("route", "method"), ID_ROUTES)
def test_every_id_that_is_not_mine_is_unknown(cast: Cast, route: Any, method: str) -> None:
    mine, theirs = cast.bakery.test, MAKERS[route.path.partition("/")[0]]
    unknown = call(mine, route, method, UNKNOWN)
    assert unknown[0] == 404
    assert call(mine, route, method, theirs(cast.strangers.test)) == unknown
    for id in NOT_IDS:
        assert call(mine, route, method, id) == unknown, id
    live = theirs(cast.bakery.live)
    assert call(mine, route, method, live) == unknown


def test_an_id_in_upper_case_is_the_same_id(cast: Cast) -> None:
    made = make.payment(cast.bakery.test)
    assert cast.bakery.test.get(f"/payments/{made['id'].upper()}").json()["id"] == made["id"]
