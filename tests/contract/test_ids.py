"""No oracle: an id of another store, of the other mode, or that is no id, is answered byte for byte
like an unknown one."""

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from apps.access.scopes import ALL
from apps.api.plumbing.routes import PUBLIC
from apps.api.urls import ROUTES
from apps.assets.models import Asset
from apps.stores.settings import write_settings
from tests import make
from tests.billing import records
from tests.cast import Api, Cast, Shop, assemble
from tests.stage import empty_buckets, standing
from tests.whole import IS_WHOLE

UNKNOWN = "00000000-0000-4000-8000-000000000000"
NOT_IDS = [
    "x",
    "ABCDEFGH12345678",
    UNKNOWN.replace("-", ""),
    "{" + UNKNOWN + "}",
    UNKNOWN[:-1] + "８",
    "%00",
    "-1",
]
SLOT = re.compile(r"([a-z_0-9]+)/<str:(\w+)>")
# Made by people alone, or no record of a store: an asset's name, a format.
APART = ("api_keys", "oauth_apps", "tokens", "e_invoices")
CASES = [
    (route, method, noun, slot)
    for route in ROUTES
    if PUBLIC not in route.scopes.values()
    for noun, slot in SLOT.findall(route.path)
    if noun not in APART
    for method in route.scopes
]
Maker = Callable[[Shop, str, str], str]  # shop, mode, path
COIN = {"test": "SETH", "live": "ETH"}


def api_of(shop: Shop, mode: str, path: str = "") -> Api:
    if path.startswith("agentic/"):
        return Api(shop.secrets[f"{mode}_agent"])
    return shop.with_scopes(*ALL, mode=mode)


def _made(answer: Any) -> str:
    assert answer.status_code in (200, 201), answer.content
    return str(answer.json()["id"])


def _payment(shop: Shop, mode: str, path: str) -> str:
    if path.startswith("agentic/"):
        return _made(
            api_of(shop, mode, path).post(
                "/agentic/payments", {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
            )
        )
    return str(make.payment(api_of(shop, mode))["id"])


def _payment_link(shop: Shop, mode: str, path: str) -> str:
    body = {"payment_link": {"title": "Mug", "currency": "EUR", "amount_cents": 1200}}
    return _made(api_of(shop, mode).post("/payment_links", body))


def _endpoint(shop: Shop, mode: str, path: str) -> str:
    body = {
        "webhook_endpoint": {"url": "https://1.1.1.1/hook", "subscribed_events": ["invoice.paid"]}
    }
    return _made(api_of(shop, mode).post("/webhook_endpoints", body))


def _payout(shop: Shop, mode: str, path: str) -> str:
    make.store_coins(shop.store, COIN[mode], 10**18)
    body = {
        "asset_id": COIN[mode],
        "amount_atomic": str(10**16),
        "destination_address": make.fresh_address(),
    }
    prefix = "/agentic" if path.startswith("agentic/") else ""
    return _made(api_of(shop, mode, path).post(f"{prefix}/payouts", body, key=uuid.uuid4().hex))


def _schedule(shop: Shop, mode: str, path: str) -> str:
    body = {
        "asset_id": COIN[mode],
        "frequency": "daily",
        "destination_address": make.fresh_address(),
    }
    return _made(api_of(shop, mode).post("/payout_schedules", {"payout_schedule": body}))


def _swap(shop: Shop, mode: str, path: str) -> str:
    if mode == "test":
        return make.swapped(shop, uuid.uuid4().hex)
    make.service_coins("ETH_USDC", 10**10)
    make.store_coins(shop.store, "ETH", 10**18)
    body = {"source_asset_id": "ETH", "buy_asset_id": "ETH_USDC", "sell_amount_atomic": str(10**17)}
    return _made(api_of(shop, mode).post("/balance_swaps", body, key=uuid.uuid4().hex))


def _billing(make_one: Callable[[Api], dict[str, Any]]) -> Maker:
    return lambda shop, mode, path: str(make_one(api_of(shop, mode))["id"])


def _account(shop: Shop, mode: str, path: str) -> str:
    return _made(
        api_of(shop, mode).post(
            "/platform/accounts", {"account": {"name": "Corner shop", "country": "DE"}}
        )
    )


def _link(shop: Shop, mode: str, path: str) -> str:
    body = {"purpose": "onboarding", "return_url": "https://platform.example/back"}
    return _made(
        api_of(shop, mode).post(
            f"/platform/accounts/{_account(shop, mode, path)}/onboarding_links", body
        )
    )


def _mandate(shop: Shop, mode: str, path: str) -> str:
    body = {"asset_id": COIN[mode], "total_cap_atomic": "1000", "mandate_ref": uuid.uuid4().hex}
    return _made(api_of(shop, mode, path).post("/agentic/mandates", body))


def _settlement(shop: Shop, mode: str, path: str) -> str:
    body = {"asset_id": COIN[mode], "mandate_ref": _mandate(shop, mode, path), "amount_atomic": "0"}
    return _made(
        api_of(shop, mode, path).post("/agentic/x402/settlements", body, key=uuid.uuid4().hex)
    )


# The noun before an id in a path -> what makes one.
MAKERS: dict[str, Maker] = {
    "payments": _payment,
    "payment_intents": _payment,
    "payment_links": _payment_link,
    "webhook_endpoints": _endpoint,
    "payouts": _payout,
    "payout_schedules": _schedule,
    "balance_swaps": _swap,
    "products": _billing(records.product),
    "prices": _billing(records.price),
    "customers": _billing(records.customer),
    "subscriptions": _billing(records.subscribe),
    "invoices": _billing(records.draft),
    "tax_rates": _billing(records.tax_rate),
    "credit_notes": _billing(records.credit_note),
    "accounts": _account,
    "onboarding_links": _link,
    "mandates": _mandate,
    "settlements": _settlement,
}
MODELESS = ("accounts", "onboarding_links")  # a sub-merchant is one store in both modes


def call(api: Api, path: str, method: str) -> tuple[int, bytes]:
    body = {} if method in ("POST", "PATCH") else None
    answer = api(method, "/" + path, body, key="one-key" if method == "POST" else None)
    return answer.status_code, answer.content


Kind = tuple[str, bool]  # a noun, and whether it is an agent's path


@dataclass
class World:
    """A record of each kind that is alice's in test mode, and those that aren't."""

    api: dict[bool, Api]
    mine: dict[Kind, str]
    not_mine: dict[Kind, list[str]]


def one_of_each() -> World:
    """Both stores are platforms whose agents may do everything."""
    cast = assemble()
    for shop in (cast.bakery, cast.strangers):
        write_settings(shop.store, {"is_platform": True, "authorization_provider": "policy"})
    Asset.objects.filter(pk="ETH_USDC").update(contract_address="0x" + "02" * 20, is_active=True)
    world = World({}, {}, {})
    for route, _, noun, _ in CASES:
        kind = (noun, route.view.for_agents)
        if kind in world.mine:
            continue
        world.api[route.view.for_agents] = api_of(cast.bakery, "test", route.path)
        world.mine[kind], *world.not_mine[kind] = [
            MAKERS[noun](shop, mode, route.path)
            for shop, mode in (
                (cast.bakery, "test"),
                (cast.strangers, "test"),
                *([] if noun in MODELESS else [(cast.bakery, "live")]),
            )
        ]
    return world


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    yield from standing(django_db_blocker, one_of_each)


@pytest.fixture
def world(made: World, db: None) -> World:
    return made


@pytest.mark.parametrize("noun", dict.fromkeys(noun for _, _, noun, _ in CASES))
def test_every_id_that_is_not_mine_is_unknown(world: World, noun: str) -> None:
    cases = [case for case in CASES if case[2] == noun]
    for route, method, _, slot in cases:
        for_agents = route.view.for_agents
        path = route.path
        for other_noun, other_slot in SLOT.findall(path):
            if other_slot != slot:
                named = world.mine.get((other_noun, for_agents), "factur-x")
                path = path.replace(f"<str:{other_slot}>", named)
        # All of a noun's paths read the id by the same rule.
        not_ids = NOT_IDS if IS_WHOLE or route is cases[0][0] else NOT_IDS[:1]
        empty_buckets()
        unknown, *others = [
            call(world.api[for_agents], path.replace(f"<str:{slot}>", id), method)
            for id in (UNKNOWN, *world.not_mine[noun, for_agents], *not_ids)
        ]
        assert unknown[0] == 404, f"{method} {path}"
        assert others == [unknown] * len(others), f"{method} {path}"


def test_an_id_in_upper_case_is_the_same_id(cast: Cast) -> None:
    made = make.payment(cast.bakery.test)
    assert cast.bakery.test.get(f"/payments/{made['id'].upper()}").json()["id"] == made["id"]
