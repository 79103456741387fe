"""The contract of /balance_swaps: fields, refusals in their shapes, and who may ask."""

from typing import Any

import pytest

from apps.assets.models import Asset, Rate
from apps.ledger.selectors import balances
from apps.swaps.models import Swap
from apps.swaps.services.progress import advance_swaps
from tests.cast import Api, Cast, Shop
from tests.make import service_coins, store_coins

PAIR = {"source_asset_id": "ETH", "buy_asset_id": "ETH_USDC", "sell_amount_atomic": str(10**18)}
FIELDS = {
    "id",
    "status",
    "source_asset_id",
    "buy_asset_id",
    "sell_amount_atomic",
    "expected_buy_amount_atomic",
    "actual_buy_amount_atomic",
    "swap_provider",
    "tx_hash",
    "livemode",
    "auto_swap",
    "failure_reason",
    "completed_at",
    "created_at",
    "updated_at",
}


@pytest.fixture(autouse=True)
def _tokens(db: None) -> None:
    for number, pk in enumerate(("ETH_USDC", "ETH_USDT", "USDC_SETH"), 1):
        Asset.objects.filter(pk=pk).update(contract_address=f"0x{number:040x}", is_active=True)


@pytest.fixture
def stocked(bakery: Shop) -> Shop:
    """A store with three ether in a service with a hundred thousand dollars."""
    service_coins("ETH_USDC", 100_000 * 10**6)
    store_coins(bakery.store, "ETH", 3 * 10**18)
    return bakery


def make(api: Api, key: str = "k", **change: Any) -> Any:
    return api.post("/balance_swaps", {**PAIR, **change}, key=key)


def test_a_quote_estimates_at_the_rates_less_the_spread_and_keeps_nothing(stocked: Shop) -> None:
    answer = stocked.live.post("/balance_swaps/quote", PAIR)
    assert answer.status_code == 200
    assert answer.json() == {
        **PAIR,
        "estimated_buy_amount_atomic": "1990000000",
        "min_received_atomic": "1980050000",
        "slippage_bps": 50,
        "buy_atomic_decimals": 6,
    }
    assert not Swap.objects.exists()
    assert balances(stocked.store.pk, "live")["ETH"].reserved_atomic == 0


def test_a_swap_reserves_what_it_sells_and_brings_what_it_buys(stocked: Shop) -> None:
    answer = make(stocked.live)
    body = answer.json()
    assert answer.status_code == 201 and set(body) == FIELDS
    told = (
        body["status"],
        body["swap_provider"],
        body["expected_buy_amount_atomic"],
        body["actual_buy_amount_atomic"],
        body["livemode"],
    )
    assert told == ("pending", "treasury", "1990000000", None, True)
    assert (body["auto_swap"], body["tx_hash"], body["failure_reason"], body["completed_at"]) == (
        False,
        None,
        None,
        None,
    )
    assert balances(stocked.store.pk, "live")["ETH"].reserved_atomic == 10**18
    advance_swaps()
    ended = stocked.live.get(f"/balance_swaps/{body['id']}").json()
    assert (ended["status"], ended["actual_buy_amount_atomic"]) == ("completed", "1990000000")
    held = balances(stocked.store.pk, "live")
    assert (
        held["ETH"].available_atomic,
        held["ETH"].reserved_atomic,
        held["ETH_USDC"].available_atomic,
    ) == (2 * 10**18, 0, 1990 * 10**6)


def test_a_replay_answers_with_the_first_swap(stocked: Shop) -> None:
    first = make(stocked.live)
    second = make(stocked.live, sell_amount_atomic="5")
    assert (second.status_code, second.json()) == (201, first.json())
    assert (
        first.headers.get("Idempotent-Replayed"),
        second.headers.get("Idempotent-Replayed"),
    ) == (None, "true")
    assert make(stocked.live, key="another").json()["id"] != first.json()["id"]


REFUSED = [
    ({"buy_asset_id": "ETH"}, 422, {"error": "Source and buy asset must differ"}),
    ({"sell_amount_atomic": "0"}, 422, {"error": "Amount must be a positive integer string"}),
    ({"sell_amount_atomic": "-1"}, 422, {"error": "Amount must be a positive integer string"}),
    ({"sell_amount_atomic": "1.5"}, 422, {"error": "Amount must be a positive integer string"}),
    ({"sell_amount_atomic": 5}, 422, {"error": "Amount must be a positive integer string"}),
    ({"sell_amount_atomic": None}, 422, {"error": "sell_amount_atomic is required"}),
    ({"source_asset_id": None}, 422, {"error": "source_asset_id is required"}),
    ({"buy_asset_id": 7}, 422, {"error": "buy_asset_id must be a string"}),
    ({"source_asset_id": "NOPE"}, 404, {"error": {"message": "Asset not found", "code": None}}),
    ({"buy_asset_id": "SETH"}, 422, {"error": "Asset is not active"}),
    ({"buy_asset_id": "POL"}, 422, {"error": "Asset is not active"}),
    (
        {"buy_asset_id": "ETH_USDT"},
        422,
        {"error": {"message": "No route for this swap", "code": "no_route"}},
    ),
    (
        {"sell_amount_atomic": "1"},
        422,
        {"error": {"message": "No route for this swap", "code": "no_route"}},
    ),
]


def test_refusals_of_a_quote_and_of_a_swap_are_the_same(stocked: Shop) -> None:
    for change, status, body in REFUSED:
        for answer in (
            stocked.live.post("/balance_swaps/quote", {**PAIR, **change}),
            make(stocked.live, **change),
        ):
            assert (answer.status_code, answer.json()) == (status, body), change
    assert not Swap.objects.exists()


def test_more_than_there_is_can_be_quoted_and_not_swapped(stocked: Shop) -> None:
    too_much = str(4 * 10**18)
    assert (
        stocked.live.post(
            "/balance_swaps/quote", {**PAIR, "sell_amount_atomic": too_much}
        ).status_code
        == 200
    )
    answer = make(stocked.live, sell_amount_atomic=too_much)
    assert (answer.status_code, answer.json()) == (422, {"error": "Insufficient available balance"})
    assert not Swap.objects.exists()


def test_without_a_rate_there_is_no_quote_for_the_moment(stocked: Shop) -> None:
    Rate.objects.filter(asset="ETH_USDC").delete()
    answer = stocked.live.post("/balance_swaps/quote", PAIR)
    assert (answer.status_code, answer.json()["error"]["code"], answer.headers["Retry-After"]) == (
        503,
        "quote_unavailable",
        "5",
    )


def test_a_key_is_needed_to_swap_and_not_to_ask(stocked: Shop) -> None:
    answer = stocked.live.post("/balance_swaps", PAIR)
    assert (answer.status_code, answer.json()) == (
        422,
        {"error": "Idempotency-Key header is required"},
    )


def test_no_scope_is_needed_but_a_secret_key(stocked: Shop) -> None:
    few = stocked.with_scopes("payments:read", mode="live")
    assert few.post("/balance_swaps/quote", PAIR).status_code == 200
    assert few.get("/balance_swaps").status_code == 200
    publishable = Api(stocked.secrets["live_publishable"])
    for answer in (
        publishable.get("/balance_swaps"),
        publishable.post("/balance_swaps/quote", PAIR),
        make(publishable),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (
            403,
            "publishable_key_forbidden",
        )


def test_another_store_and_the_other_mode_see_nothing(stocked: Shop, cast: Cast) -> None:
    swap_id = make(stocked.live).json()["id"]
    unknown = stocked.live.get("/balance_swaps/00000000-0000-4000-8000-000000000000")
    assert (unknown.status_code, unknown.json()) == (
        404,
        {"error": {"message": "Balance swap not found", "code": None}},
    )
    for api, wanted in (
        (stocked.test, swap_id),
        (cast.strangers.live, swap_id),
        (stocked.live, "x"),
        (stocked.live, "ABCDEFGH12345678"),
    ):
        answer = api.get(f"/balance_swaps/{wanted}")
        assert (answer.status_code, answer.content) == (404, unknown.content)
    assert cast.strangers.live.get("/balance_swaps").json()["data"] == []


def test_the_list_is_newest_first_by_page_and_status(stocked: Shop) -> None:
    ids = [
        make(stocked.live, key=str(number), sell_amount_atomic=str(10**17)).json()["id"]
        for number in range(3)
    ]
    body = stocked.live.get("/balance_swaps?per_page=2").json()
    assert [part["id"] for part in body["data"]] == ids[:0:-1]
    assert body["pagination"] == {"page": 1, "per_page": 2, "total": 3, "total_pages": 2}
    advance_swaps()
    make(stocked.live, key="open", sell_amount_atomic=str(10**17))
    by_status = {
        status: len(stocked.live.get(f"/balance_swaps?status={status}").json()["data"])
        for status in ("completed", "pending", "x")
    }
    assert by_status == {"completed": 3, "pending": 1, "x": 4}
    assert stocked.live.get("/balance_swaps").json()["pagination"]["per_page"] == 25
