"""Wrong requests of agents: each with its code, in the one shape of their API, and nothing
moved."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.access.services import create_agent_credential
from apps.agents.models import Mandate, Settlement
from apps.ledger.selectors import balances
from apps.stores.settings import write_settings
from tests import make
from tests.cast import Api, Cast, Shop

pytestmark = pytest.mark.django_db
MIB = 1024 * 1024
TO = "0x52908400098527886E0F7030069857D2E4169EE7"


@pytest.fixture
def shop(cast: Cast) -> Iterator[Shop]:
    """A store with coins and a mandate of a thousand units; nothing is ever drawn by what is
    refused."""
    write_settings(cast.bakery.store, {"authorization_provider": "policy"})
    make.paid(cast.bakery.test, amount="100.00")
    assert mandate(agent(cast.bakery)).status_code == 201
    before = balances(cast.bakery.store.pk, "test")["SETH"].available_atomic
    yield cast.bakery
    drawn = sum(Settlement.objects.values_list("amount_atomic", flat=True))
    assert balances(cast.bakery.store.pk, "test")["SETH"].available_atomic == before - drawn


def agent(shop: Shop) -> Api:
    return Api(shop.secrets["test_agent"])


def mandate(api: Api, **fields: Any) -> Any:
    return api.post(
        "/agentic/mandates",
        {"asset_id": "SETH", "total_cap_atomic": "1000", "mandate_ref": "books", **fields},
    )


def draw(api: Api, key: str | None = "k", **fields: Any) -> Any:
    body = {
        "asset_id": "SETH",
        "mandate_ref": "books",
        "amount_atomic": "10",
        "pay_to": TO,
        **fields,
    }
    return api.post("/agentic/x402/settlements", body, key=key)


def refusal(answer: Any) -> tuple[int, str | None]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_known_reference_answers_with_the_mandate_that_has_it(shop: Shop) -> None:
    again = mandate(agent(shop), total_cap_atomic="2000")
    assert again.status_code in (200, 201)
    assert Mandate.objects.get().total_cap_atomic == 1000


WRONG: list[tuple[dict[str, Any], tuple[int, str | None]]] = [
    *[
        ({"amount_atomic": amount}, (422, "invalid_amount"))
        for amount in ("-0", "1e3", "+1", " 1", "１", "1.0", "", None, True, [], "1" * 80)
    ],
    ({"requirements": "text"}, (422, None)),
    ({"requirements": []}, (422, None)),
    ({"nonce": 5}, (422, None)),
    ({"nonce": "a\x00b"}, (422, None)),
    ({"pay_to": 5}, (422, None)),
]


def test_a_draw_that_makes_no_sense_is_refused(shop: Shop) -> None:
    for number, (fields, expected) in enumerate(WRONG):
        answer = draw(agent(shop), f"w{number}", **fields)
        assert answer.status_code == 422, (fields, answer.content)
        status, code = refusal(answer)
        assert (status, code if expected[1] else None) == expected, fields
    assert refusal(draw(agent(shop), None)) == (422, "idempotency_key_required")
    assert refusal(draw(agent(shop), "")) == (422, "idempotency_key_required")
    assert draw(agent(shop), "k" * 10_000).status_code == 422
    assert draw(agent(shop), "big", requirements={"x": "y" * 5 * MIB}).status_code in (413, 422)
    assert not Settlement.objects.exists()


def test_what_a_seller_asked_for_is_kept_as_text_and_decides_nothing(shop: Shop) -> None:
    kept = {"amount": "999", "note": "<script>alert(1)</script>"}
    made = draw(agent(shop), requirements=kept, nonce="<script>")
    assert made.status_code == 201
    assert (made.json()["amount_atomic"], Settlement.objects.get().amount_atomic) == ("10", 10)
    assert b"<script>" not in agent(shop).get("/agentic/x402/settlements").content or made[
        "Content-Type"
    ].startswith("application/json")


def test_another_credentials_mandate_is_like_none(shop: Shop) -> None:
    other = Api(create_agent_credential(shop.store, "test")[1])
    known = draw(other, "a")
    unknown = draw(other, "b", mandate_ref="nosuch")
    assert (
        (known.status_code, known.content)
        == (unknown.status_code, unknown.content)
        == (404, known.content)
    )
    assert refusal(mandate(other, total_cap_atomic="x")) == (422, "invalid_cap")


MANDATES = "/agentic/mandates"
DRAWS = "/agentic/x402/settlements"
# What a body that is wrong in two ways is told first.
ORDER: list[tuple[str, dict[str, Any], tuple[int, str | None]]] = [
    (MANDATES, {"mandate_ref": None, "asset_id": "NOPE"}, (422, "mandate_ref_required")),
    (
        MANDATES,
        {"mandate_ref": "new", "asset_id": "NOPE", "total_cap_atomic": "x"},
        (404, "asset_not_found"),
    ),
    (MANDATES, {"mandate_ref": "new", "asset_id": 5, "total_cap_atomic": "x"}, (422, None)),
    (MANDATES, {"mandate_ref": "x" * 256}, (422, None)),
    (DRAWS, {"amount_atomic": "x", "asset_id": "NOPE"}, (422, "invalid_amount")),
    (DRAWS, {"asset_id": "NOPE", "mandate_ref": ""}, (404, "asset_not_found")),
    (DRAWS, {"asset_id": "NOPE", "nonce": 5}, (404, "asset_not_found")),
    ("/agentic/payouts", {"asset_id": "NOPE", "amount_atomic": "x"}, (404, "asset_not_found")),
    (
        "/agentic/payouts",
        {"amount_atomic": "x", "destination_address": ""},
        (422, "invalid_amount"),
    ),
    ("/agentic/payouts", {"destination_address": ""}, (422, "destination_required")),
    (
        "/agentic/payouts",
        {"destination_address": TO, "crypto_payout_detail_id": "x"},
        (422, "destination_required"),
    ),
]


def test_what_is_wrong_in_two_ways_is_told_in_the_documented_order(shop: Shop) -> None:
    right = {
        MANDATES: {"asset_id": "SETH", "total_cap_atomic": "10", "mandate_ref": "books"},
        DRAWS: {"asset_id": "SETH", "amount_atomic": "10", "mandate_ref": "books"},
        "/agentic/payouts": {"asset_id": "SETH", "amount_atomic": "10"},
    }
    for path, fields, expected in ORDER:
        assert refusal(agent(shop).post(path, {**right[path], **fields}, key="k")) == expected, (
            path,
            fields,
        )


def test_a_reference_and_a_key_that_are_known_answer_whatever_else_is_sent(shop: Shop) -> None:
    first = Mandate.objects.get()
    draw_of_key = draw(agent(shop))
    assert mandate(agent(shop), total_cap_atomic="x").json()["id"] == str(first.pk)
    again = draw(agent(shop), amount_atomic="x")
    assert (again.status_code, again.json(), again.headers["Idempotent-Replayed"]) == (
        201,
        draw_of_key.json(),
        "true",
    )


def test_a_refund_of_what_is_no_amount_says_so_by_its_code(shop: Shop) -> None:
    made = (
        agent(shop)
        .post(
            "/agentic/payments", {"payment_intent": {"amount": "10.00", "currency": "EUR"}}, key="p"
        )
        .json()
    )
    path = f"/agentic/payments/{made['id']}/refunds"
    for amount in ("x", "1.", 5, "1" * 41):
        answer = agent(shop).post(path, {"amount": amount}, key="k")
        assert refusal(answer) == (422, "invalid_amount"), amount
