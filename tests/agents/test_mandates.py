"""Mandates and the draws on them: who may, how much, and that no number of simultaneous draws gets
past a cap."""

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from apps.access.services import authenticate
from apps.agents.models import Mandate, Settlement
from apps.agents.requests.mandates import MandateRequest, SettlementRequest
from apps.agents.services.mandates import create_mandate
from apps.agents.services.settle import create_settlement
from apps.core.errors import Failure
from apps.ledger.selectors import balances
from apps.stores.settings import write_settings
from tests import make
from tests.cast import Api, Cast, Shop, person, shop_of

PAY_TO = "0x52908400098527886E0F7030069857D2E4169EE7"


@pytest.fixture
def bakery(cast: Cast) -> Shop:
    """A store whose agents may ask for mandates, with test coins to spend."""
    write_settings(cast.bakery.store, {"authorization_provider": "policy"})
    make.paid(cast.bakery.test, amount="100.00")
    return cast.bakery


def agent(shop: Shop) -> Api:
    return Api(shop.secrets["test_agent"])


def mandate(api: Api, **fields: Any) -> Any:
    return api.post(
        "/agentic/mandates",
        {"asset_id": "SETH", "total_cap_atomic": "1000", "mandate_ref": "books", **fields},
    )


def draw(api: Api, amount: str, key: str, **fields: Any) -> Any:
    body = {
        "asset_id": "SETH",
        "mandate_ref": "books",
        "amount_atomic": amount,
        "pay_to": PAY_TO,
        **fields,
    }
    return api.post("/agentic/x402/settlements", body, key=key)


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def available(shop: Shop) -> int:
    return balances(shop.store.pk, "test")["SETH"].available_atomic


def test_without_a_provider_no_mandate_is_issued_and_nothing_is_drawn(cast: Cast) -> None:
    api = agent(cast.bakery)
    assert refusal(mandate(api)) == refusal(draw(api, "1", "k")) == (403, "mandate_required")


def test_a_draw_debits_the_store_and_the_envelope(bakery: Shop) -> None:
    before = available(bakery)
    assert mandate(agent(bakery)).status_code == 201
    answer = draw(agent(bakery), "300", "k")
    assert answer.status_code == 201 and (answer.json()["status"], answer.json()["tx_ref"]) == (
        "submitted",
        None,
    )
    told = agent(bakery).get("/agentic/mandates").json()["data"][0]
    assert (told["spent_atomic"], told["remaining_atomic"], told["status"]) == (
        "300",
        "700",
        "active",
    )
    assert available(bakery) == before - 300


BAD_MANDATES: list[tuple[dict[str, Any], tuple[int, str | None]]] = [
    ({"total_cap_atomic": "0"}, (422, "invalid_cap")),
    ({"total_cap_atomic": "-1"}, (422, "invalid_cap")),
    ({"total_cap_atomic": "1.5"}, (422, "invalid_cap")),
    ({"total_cap_atomic": 1000}, (422, "invalid_cap")),
    ({"total_cap_atomic": "1" + "0" * 78}, (422, "invalid_cap")),
    ({"total_cap_atomic": None}, (422, "invalid_cap")),
    ({"per_call_cap_atomic": "0"}, (422, "invalid_cap")),
    ({"mandate_ref": " "}, (422, "mandate_ref_required")),
    ({"mandate_ref": None}, (422, "mandate_ref_required")),
    ({"asset_id": "NOPE"}, (404, "asset_not_found")),
    ({"asset_id": "USDT_SETH"}, (422, "asset_not_active")),
    ({"expires_in_seconds": 59}, (422, None)),
    ({"expires_in_seconds": 31_536_001}, (422, None)),
    ({"expires_in_seconds": "600"}, (422, None)),
]


def test_a_mandate_that_makes_no_sense_is_refused(bakery: Shop) -> None:
    for fields, expected in BAD_MANDATES:
        assert refusal(mandate(agent(bakery), **fields)) == expected, fields
    assert not Mandate.objects.exists()


BAD_DRAWS: list[tuple[Any, dict[str, Any], tuple[int, str | None]]] = [
    ("1001", {}, (403, "spend_cap_exceeded")),
    ("101", {}, (403, "spend_cap_exceeded")),
    ("-0", {}, (422, "invalid_amount")),
    ("1e3", {}, (422, "invalid_amount")),
    (5, {}, (422, "invalid_amount")),
    ("1", {"mandate_ref": "unknown"}, (404, "not_found")),
    ("1", {"mandate_ref": ""}, (422, "mandate_ref_required")),
    ("1", {"asset_id": "NOPE"}, (404, "asset_not_found")),
    ("1", {"requirements": "text"}, (422, None)),
]


def test_a_draw_that_may_not_be_is_refused_and_leaves_nothing(bakery: Shop) -> None:
    before = available(bakery)
    mandate(agent(bakery), per_call_cap_atomic="100")
    for amount, fields, expected in BAD_DRAWS:
        assert refusal(draw(agent(bakery), amount, "k", **fields)) == expected, (amount, fields)
        assert not Settlement.objects.exists() and available(bakery) == before, (amount, fields)


def test_a_balance_must_cover_a_draw(bakery: Shop) -> None:
    mandate(agent(bakery), total_cap_atomic=str(10**30))
    assert refusal(draw(agent(bakery), str(available(bakery) + 1), "k")) == (
        422,
        "insufficient_balance",
    )
    assert Mandate.objects.get().spent_atomic == 0


def test_a_nonce_is_used_once_and_a_key_answers_with_the_first(bakery: Shop) -> None:
    mandate(agent(bakery))
    first = draw(agent(bakery), "10", "k", nonce="n")
    again = draw(agent(bakery), "20", "k", nonce="n")
    assert again.json() == first.json() and again.headers["Idempotent-Replayed"] == "true"
    assert refusal(draw(agent(bakery), "10", "other", nonce="n")) == (422, "nonce_reused")
    assert Mandate.objects.get().spent_atomic == 10


def test_a_consumed_envelope_is_exhausted_and_refuses(bakery: Shop) -> None:
    mandate(agent(bakery))
    draw(agent(bakery), "1000", "k")
    assert Mandate.objects.get().status == "exhausted"
    assert refusal(draw(agent(bakery), "1", "l")) == (403, "mandate_required")


def test_time_ends_a_mandate(bakery: Shop) -> None:
    made = mandate(agent(bakery), expires_in_seconds=60).json()
    make.advance(bakery.test, 61)
    assert refusal(draw(agent(bakery), "1", "k")) == (403, "mandate_required")
    assert agent(bakery).get(f"/agentic/mandates/{made['id']}").json()["status"] == "expired"
    assert list(Mandate.objects.get().steps.values_list("to_status", flat=True)) == [
        "active",
        "expired",
    ]


def test_time_ends_a_mandate_before_any_job_has_noted_it(bakery: Shop) -> None:
    mandate(agent(bakery))
    Mandate.objects.update(expires_at=bakery.access().now())
    before = available(bakery)
    assert refusal(draw(agent(bakery), "1", "k")) == (403, "mandate_required")
    row = Mandate.objects.get()
    assert (row.spent_atomic, row.status, available(bakery)) == (
        0,
        "active",
        before,
    ) and not Settlement.objects.exists()


def test_a_draw_of_nothing_changes_nothing(bakery: Shop) -> None:
    made = mandate(agent(bakery)).json()
    assert draw(agent(bakery), "0", "k").json()["status"] == "submitted"
    assert agent(bakery).get(f"/agentic/mandates/{made['id']}").json() == made


def test_a_draw_asks_the_database_four_times(bakery: Shop) -> None:
    mandate(agent(bakery))
    access = authenticate(bakery.secrets["test_agent"], for_agents=True)
    with CaptureQueriesContext(connection) as asked:
        create_settlement(
            access, SettlementRequest(asset_id="SETH", mandate_ref="books", amount_atomic=1), "k"
        )
    told = [str(item["sql"]) for item in asked]
    # Accounts are remembered once their transaction is over, which a test's never is.
    assert (
        len([item for item in told if "SAVEPOINT" not in item and "ledger_account_id" not in item])
        == 4
    ), told


DRAWERS = 8
DRAWS = 4  # of each


def test_draws_at_once_take_a_tenth_each_and_no_more(
    django_db_setup: None, django_db_blocker: Any
) -> None:
    with django_db_blocker.unblock():
        shop = shop_of(person("alice"), "Draws")
        write_settings(shop.store, {"authorization_provider": "policy"})
        make.paid(shop.test, amount="100.00")
        before = available(shop)
        access = authenticate(shop.secrets["test_agent"], for_agents=True)
        made, _ = create_mandate(
            access,
            MandateRequest(asset_id="SETH", total_cap_atomic=1000, mandate_ref="books"),
            None,
        )
        kept: list[bool] = []

        def one(key: str) -> str:
            try:
                create_settlement(
                    access,
                    SettlementRequest(asset_id="SETH", mandate_ref="books", amount_atomic=100),
                    key,
                )
                told = Mandate.objects.get(pk=made.pk)
                kept.append(
                    told.spent_atomic <= 1000 and told.spent_atomic + told.remaining_atomic == 1000
                )
                return "drawn"
            except Failure as refusal:
                return str(refusal.code)

        def several(drawer: int) -> list[str]:
            try:
                return [one(f"key {drawer} {number}") for number in range(DRAWS)]
            finally:
                connections.close_all()

        with ThreadPoolExecutor(DRAWERS) as pool:
            answers = list(chain.from_iterable(pool.map(several, range(DRAWERS))))
        assert answers.count("drawn") == 10 and all(kept)
        assert set(answers) <= {"drawn", "mandate_required", "spend_cap_exceeded"}
        row = Mandate.objects.get(pk=made.pk)
        assert (row.spent_atomic, row.status, available(shop)) == (1000, "exhausted", before - 1000)
