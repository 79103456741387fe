"""Fields that an operation doesn't know: refused where money moves, else named in a header and in
the request log."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.access import request_log
from apps.agents.models import Mandate, Settlement
from apps.api.description import _document
from apps.api.urls import ROUTES
from apps.payments.models import Refund
from apps.payouts.models import Payout, Schedule
from apps.stores.settings import write_settings
from apps.swaps.models import Swap
from tests import make
from tests.agents.conftest import Market, ground, market, place
from tests.cast import Api, Cast, Shop
from tests.contract.test_test_wallet import funded_test_wallet
from tests.docs import stories
from tests.docs.recorder import Recorder
from tests.docs.test_examples import _PARAMETER, HIDDEN, STORIES

__all__ = ["funded_test_wallet", "ground", "market", "place"]
pytestmark = pytest.mark.django_db
MONEY = {
    "POST /payments/{id}/refunds",
    "POST /balance_swaps",
    "POST /payouts",
    "POST /payouts/{id}/retry",
    "POST /payout_schedules",
    "PATCH /payout_schedules/{id}",
    "POST /payout_schedules/{id}/run",
    "POST /agentic/payments/{id}/refunds",
    "POST /agentic/payouts",
    "POST /agentic/mandates",
    "POST /agentic/x402/settlements",
}
# Bodies in the words of a protocol, which says that what isn't known is ignored.
OF_A_PROTOCOL = {
    "POST /oauth/authorize",
    "POST /oauth/token",
    "POST /oauth/revoke",
    "POST /x402/verify",
    "POST /x402/settle",
}
MOVED = (Refund, Payout, Schedule, Swap, Mandate, Settlement)
TO = "0x52908400098527886E0F7030069857D2E4169EE7"


def with_unknown(body: Any) -> Any:
    """A body with a field that nobody knows, in its wrapper where it has one."""
    if body is None:
        return {"colour": "red"}
    (first, inner), *others = body.items() or [("", None)]
    if isinstance(inner, dict) and not others:
        return {first: {**inner, "colour": "red"}}
    return {**body, "colour": "red"}


class Careless(Recorder):
    """Says to each operation what the story says, and one field more."""

    def __call__(
        self,
        asker: Api | Client,
        method: str,
        template: str,
        body: Any = None,
        **options: Any,
    ) -> Any:
        operation = f"{method} {template}"
        if method not in ("POST", "PATCH") or operation in OF_A_PROTOCOL:
            return super().__call__(asker, method, template, body, **options)
        if operation not in MONEY:
            told = super().__call__(asker, method, template, with_unknown(body), **options)
            assert self.answer.headers.get("Ignored-Fields") == "colour", operation
            return told
        before = [rows.objects.count() for rows in MOVED]
        with pytest.raises(AssertionError):
            super().__call__(asker, method, template, with_unknown(body), **options)
        assert self.answer.status_code == 422, operation
        assert "Unknown field: colour" in self.answer.content.decode(), operation
        assert "Ignored-Fields" not in self.answer.headers
        assert [rows.objects.count() for rows in MOVED] == before, operation
        told = super().__call__(asker, method, template, body, **options)
        assert "Idempotent-Replayed" not in self.answer.headers, operation
        return told


@pytest.mark.parametrize("name", STORIES)
def test_no_operation_passes_over_a_field_in_silence(cast: Cast, name: str) -> None:
    STORIES[name](Careless(), cast)


@pytest.mark.chain
def test_x402_passes_over_no_field_in_silence(market: Market) -> None:
    stories.x402(Careless(), market)


@pytest.mark.chain
def test_the_test_wallet_passes_over_no_field_in_silence(
    cast: Cast, funded_test_wallet: None
) -> None:
    stories.wallet(Careless(), cast.bakery)


def test_bodies_that_move_money_are_these() -> None:
    found = {
        f"{method} /{route.path}".replace("<str:id>", "{id}")
        for route in ROUTES
        for method in route.scopes
        if route.view.refuses_unknown and method in route.view.bodies
    }
    assert found == MONEY


def test_the_description_tells_which_operations_refuse_and_which_name_what_they_ignore() -> None:
    refuses, names = set(), set()
    for path, methods in json.loads(_document())["paths"].items():
        for method, operation in methods.items():
            call = f"{method.upper()} {path.removeprefix('/api/v2')}"
            if method not in ("post", "patch") or not path.startswith("/api/v2"):
                continue
            done = [answer for status, answer in operation["responses"].items() if status < "3"]
            if any("Ignored-Fields" in answer.get("headers", {}) for answer in done):
                names.add(call)
            if "A field that isn't listed is refused" in operation["description"]:
                refuses.add(call)
            body = operation.get("requestBody")
            if call in MONEY and body is not None:
                schema = body["content"]["application/json"]["schema"]
                assert schema["additionalProperties"] is False, call
    assert refuses == MONEY
    every = {
        f"{method} /" + _PARAMETER.sub(r"{\1}", route.path)
        for route in ROUTES
        for method in route.view.bodies
    }
    assert names == every - MONEY - OF_A_PROTOCOL - HIDDEN


@pytest.fixture
def shop(cast: Cast) -> Shop:
    write_settings(cast.bakery.store, {"authorization_provider": "policy"})
    make.paid(cast.bakery.test, amount="100.00")
    return cast.bakery


def refund(shop: Shop, body: Any, *, agent: bool = False) -> Any:
    id = make.paid(shop.test)["id"]
    if not agent:
        return shop.test.post(f"/payments/{id}/refunds", body, key="k")
    api = Api(shop.secrets["test_agent"])
    made = api.post("/agentic/payments", {"payment_intent": {"amount": "5.00", "currency": "EUR"}})
    make.simulated(shop.test, made.json()["id"])
    return api.post(f"/agentic/payments/{made.json()['id']}/refunds", body, key="k")


def payout(shop: Shop, body: Any) -> Any:
    return shop.test.post("/payouts", body, key="k")


def schedule(shop: Shop, body: Any) -> Any:
    return shop.test.post("/payout_schedules", body)


def of_agents(path: str) -> Callable[[Shop, Any], Any]:
    return lambda shop, body: Api(shop.secrets["test_agent"]).post(
        f"/agentic/{path}", body, key="k"
    )


SHAPES: list[tuple[Any, Any, Any]] = [
    (
        refund,
        {"refund": {"asset_id": "SETH", "amount_atomic": "5"}},
        {"error": "Unknown field: amount_atomic", "nearest": "amount"},
    ),
    (
        refund,
        {"refund": {}, "amount": "0.1"},
        {"error": "Unknown field: amount", "nearest": "refund.amount"},
    ),
    (refund, {"note": None}, {"error": "Unknown field: note"}),
    (
        payout,
        {"asset": "SETH", "amount_atomic": "1000000000000000", "destination_address": TO},
        {"error": "Unknown field: asset", "nearest": "asset_id"},
    ),
    (
        payout,
        {"asset_id": "NONE", "amount_atomc": "1000000000000000"},
        {"error": "Unknown field: amount_atomc", "nearest": "amount_atomic"},
    ),
    (
        schedule,
        {"payout_schedule": {"asset_id": "SETH", "minimum_cents": 5}},
        {"errors": ["Unknown field: minimum_cents"], "nearest": "minimum_fiat_cents"},
    ),
    (
        of_agents("payouts"),
        {"asset_id": "SETH", "amount": "1", "destination_address": TO},
        {
            "error": {
                "message": "Unknown field: amount",
                "code": "unknown_field",
                "nearest": "amount_atomic",
            }
        },
    ),
    (
        of_agents("mandates"),
        {"asset_id": "NONE", "total_cap": "1", "mandate_ref": "books"},
        {
            "error": {
                "message": "Unknown field: total_cap",
                "code": "unknown_field",
                "nearest": "total_cap_atomic",
            }
        },
    ),
    (
        of_agents("x402/settlements"),
        {"asset_id": "SETH", "mandate_ref": "books", "amount_atomic": "1", "zzz": 1},
        {"error": {"message": "Unknown field: zzz", "code": "unknown_field"}},
    ),
    (
        lambda shop, body: refund(shop, body, agent=True),
        {"refund": {"amount": "1"}},
        {"error": {"message": "Unknown field: refund", "code": "unknown_field"}},
    ),
]


@pytest.mark.parametrize(("ask", "body", "refusal"), SHAPES)
def test_an_unknown_field_is_refused_in_the_shape_of_its_endpoint(
    shop: Shop, ask: Any, body: Any, refusal: Any
) -> None:
    answer = ask(shop, body)
    assert (answer.status_code, answer.json()) == (422, refusal)


def test_a_replay_answers_the_first_payout_whatever_its_body(shop: Shop) -> None:
    body = {"asset_id": "SETH", "amount_atomic": "1000000000000000", "destination_address": TO}
    first = payout(shop, body)
    second = payout(shop, {**body, "colour": "red"})
    assert (second.status_code, second.json()["id"]) == (201, first.json()["id"])


def test_a_name_is_told_in_part_and_never_as_a_header_of_its_own(bakery: Shop) -> None:
    strange = {"a\r\nSet-Cookie: x": 1, "é, b": 1, "x" * 500: 1}
    many = {f"f{number}": number for number in range(20)}
    body = {"payment_intent": {"amount": "1.00", "currency": "EUR", **strange, **many}}
    answer = bakery.test.post("/payments", body)
    names = answer.headers["Ignored-Fields"].split(", ")
    assert names[:3] == ["a%0D%0ASet-Cookie%3A%20x", "%C3%A9%2C%20b", "x" * 64]
    assert len(names) == 10
    refused = refund(bakery, {"refund": {"y" * 500: 1}})
    assert refused.json() == {"error": f"Unknown field: {'y' * 64}"}


def test_a_name_inside_an_item_is_told_with_its_way(bakery: Shop) -> None:
    item = {"description": "Tea", "quantity": 1, "unit_amount_cents": 100, "color": "green"}
    intent = {
        "amount": "1.00",
        "currency": "EUR",
        "line_items": [item],
        "metadata": {"anything": "goes"},
    }
    answer = bakery.test.post("/payments", {"payment_intent": intent, "x": 1})
    assert answer.status_code == 201
    assert answer.headers["Ignored-Fields"] == "line_items[0].color, x"


def test_the_request_log_names_what_was_ignored_and_no_value(bakery: Shop) -> None:
    secret = f"svc_sk_test_{'a1B2' * 10}"
    intent = {"amount": "1.00", "currency": "EUR", "colour": "a value", secret: 1}
    bakery.test.post("/payments", {"payment_intent": intent})
    bakery.test.post("/payments", {"payment_intent": {**intent, "amount": "0"}})
    request_log.flush()
    second, first = list(request_log.entries(bakery.access("test")))
    assert (first.status, first.error_code) == (201, "fields_ignored")
    assert first.error_message.startswith("Ignored fields: colour, ")
    assert (second.status, second.error_code) == (422, "fields_ignored")
    assert second.error_message.startswith(
        "amount must be greater than zero; Ignored fields: colour"
    )
    assert secret not in first.error_message and "a value" not in first.error_message
