"""POST /payouts and what follows: every documented refusal in its order, the record's fields,
lists, retries, quotes."""

import uuid
from typing import Any

import pytest

from apps.assets.models import Asset
from apps.core import clock
from apps.payouts.models import Payout
from apps.payouts.services.caps import set_store_cap
from apps.payouts.services.destinations import add_bank, add_wallet
from apps.payouts.services.rejection import reject_payout
from apps.stores.services import change_store
from tests import make
from tests.cast import Cast, Shop

pytestmark = pytest.mark.django_db
NOT_AN_AMOUNT = "Amount must be a positive integer string"
IBAN = "DE89370400440532013000"
FIELDS = {
    "id",
    "status",
    "payout_rail",
    "payout_schedule_id",
    "amount_atomic",
    "amount_decimal",
    "destination_address",
    "provider_tx_id",
    "tx_hash",
    "fiat_currency",
    "paid_fiat_amount_cents",
    "paid_fx_rate",
    "paid_fee_cents",
    "paid_at",
    "paid_external_reference",
    "network_fee_decimal",
    "state_transitions",
    "failure_reason",
    "failure_code",
    "livemode",
    "simulated",
    "withheld_atomic",
    "funds_returned",
    "next_retry_at",
    "pending_reason",
    "failed_gas_charged_atomic",
    "created_at",
    "updated_at",
    "asset",
}


def bank(shop: Shop, mode: str = "live", *, is_verified: bool = True) -> str:
    made = add_bank(
        shop.store, mode, currency="EUR", holder="Alice", account=IBAN, is_verified=is_verified
    )
    return str(made.pk)


def wallet(shop: Shop, network: str = "sepolia", mode: str = "test") -> str:
    return str(add_wallet(shop.store, mode, network, make.fresh_address()).pk)


@pytest.fixture
def stablecoins(db: None) -> None:
    """The live chain's stablecoins have contracts, as in production."""
    for number, asset_id in enumerate(("ETH_USDC", "ETH_USDT"), start=1):
        Asset.objects.filter(pk=asset_id).update(
            contract_address=f"0x{number:040x}"[:2] + "c" * 39 + str(number), is_active=True
        )


def rich(shop: Shop, asset_id: str = "ETH_USDC", amount_atomic: int = 100_000_000) -> None:
    change_store(shop.store, kyc_confirmed_at=clock.real_now())
    make.store_coins(shop.store, asset_id, amount_atomic)


def test_a_payout_to_a_raw_address_reserves_and_tells_everything(bakery: Shop) -> None:
    funds = make.funded(bakery.test)
    to = make.fresh_address()
    made = make.payout(bakery.test, funds // 2, destination_address=to)
    assert set(made) == FIELDS
    assert (made["status"], made["payout_rail"], made["destination_address"].lower()) == (
        "pending",
        "crypto",
        to,
    )
    assert (made["amount_atomic"], made["livemode"]) == (str(funds // 2), False)
    assert [
        (state_transition["from"], state_transition["to"])
        for state_transition in made["state_transitions"]
    ] == [(None, "pending")]
    entry = bakery.test.get("/balances").json()["balances"][0]
    assert (int(entry["reserved_atomic"]), int(entry["balance_atomic"])) == (
        funds // 2,
        funds - funds // 2,
    )
    assert bakery.test.get(f"/payouts/{made['id']}").json() == made


@pytest.mark.parametrize(
    ("atomic", "decimal"),
    [(10**16, "0.01"), (12_345_678_901_234_567, "0.012345678901234567"), (2 * 10**16, "0.02")],
)
def test_the_decimal_amount_is_exact_and_has_no_trailing_zeros(
    bakery: Shop, atomic: int, decimal: str
) -> None:
    make.funded(bakery.test)
    assert make.payout(bakery.test, atomic)["amount_decimal"] == decimal


WRONG: list[tuple[str, dict[str, Any], int, str]] = [
    ("no asset", {"asset_id": None}, 422, "asset_id is required"),
    ("an asset that is no text", {"asset_id": 5}, 422, "asset_id must be a string"),
    ("an unknown asset", {"asset_id": "ETH_ETH"}, 404, "Asset not found"),
    (
        "an asset before its amount",
        {"asset_id": "BSC_USDT", "amount_atomic": "x"},
        404,
        "Asset not found",
    ),
    ("an asset of live mode", {"asset_id": "ETH"}, 422, "Asset is not active"),
    ("an inactive asset", {"asset_id": "USDC_SETH"}, 422, "Asset is not active"),
    *[
        (
            f"the amount {amount!r}",
            {"amount_atomic": amount},
            422,
            "Amount must be a positive integer string",
        )
        for amount in (
            None,
            "",
            "0",
            "000",
            "-1",
            "+1",
            "1.5",
            "1e18",
            " 1",
            "1\n",
            "\uff11",
            1,
            2**64,
            True,
            [],
            "1" * 61,
        )
    ],
    (
        "an amount before its destination",
        {"amount_atomic": "x", "destination_address": None},
        422,
        NOT_AN_AMOUNT,
    ),
    ("no destination", {"destination_address": None}, 422, "Exactly one destination is required"),
    (
        "an address that is no text",
        {"destination_address": 5},
        422,
        "destination_address must be a string",
    ),
    *[
        (
            f"the address {address!r}",
            {"destination_address": address},
            422,
            "Destination address is not valid for Ethereum Sepolia",
        )
        for address in (
            "",
            "x",
            "0x" + "0" * 40,
            "0x" + "1" * 39,
            "1" * 40,
            "0x" + "1" * 41,
            "0x" + "1" * 40 + "\n",
            "0x" + "g" * 40,
            "0x52908400098527886e0F7030069857D2E4169EE7",
            "0x000000000000000000000000000000000000dEaD",
            "0x" + "\u0415" + "1" * 39,
        )
    ],
    (
        "an unknown wallet",
        {"crypto_payout_detail_id": str(uuid.uuid4())},
        404,
        "Payout detail not found",
    ),
    ("a wallet that is no id", {"crypto_payout_detail_id": "x"}, 404, "Payout detail not found"),
    (
        "an unknown bank",
        {"fiat_payout_detail_id": str(uuid.uuid4()), "destination_address": None},
        404,
        "Payout detail not found",
    ),
    (
        "a bank beside an address",
        {"fiat_payout_detail_id": str(uuid.uuid4())},
        422,
        "Exactly one destination is required",
    ),
    ("too little", {"amount_atomic": "99999999999999"}, 422, "Amount is below the network minimum"),
    ("more than there is", {"amount_atomic": "9" * 60}, 422, "Insufficient available balance"),
]


def test_what_is_wrong_is_refused_with_its_sentence(bakery: Shop) -> None:
    for what, changes, status, sentence in WRONG:
        body = {
            "asset_id": "SETH",
            "amount_atomic": str(10**16),
            "destination_address": "0x" + "1" * 40,
            **changes,
        }
        answer = bakery.test.post("/payouts", body, key="k")
        told = answer.json()["error"]
        assert (answer.status_code, told if isinstance(told, str) else told["message"]) == (
            status,
            sentence,
        ), what
    assert bakery.test.get("/payouts").json()["pagination"]["total"] == 0


def test_an_address_of_this_service_is_refused(bakery: Shop) -> None:
    address = make.payment(bakery.test)["payment_addresses"][0]["address"]
    answer = make.ask_payout(bakery.test, "1" + "0" * 16, destination_address=address)
    assert answer.json() == {"error": "Destination address belongs to this service"}


def test_a_saved_wallet_wins_over_an_address_and_must_be_on_the_assets_network(cast: Cast) -> None:
    shop = cast.bakery
    make.funded(shop.test)
    saved = add_wallet(shop.store, "test", "sepolia", make.fresh_address())
    made = make.payout(
        shop.test,
        10**16,
        crypto_payout_detail_id=str(saved.pk),
        destination_address=make.fresh_address(),
    )
    assert made["destination_address"].lower() == saved.address
    other = make.ask_payout(shop.test, "1" + "0" * 16, crypto_payout_detail_id=wallet(shop, "bsc"))
    assert (other.status_code, other.json()) == (
        422,
        {"error": "Wallet network does not match the asset's network"},
    )
    for foreign in (wallet(cast.strangers), wallet(shop, "sepolia", "live")):
        answer = make.ask_payout(shop.test, "1" + "0" * 16, crypto_payout_detail_id=foreign)
        assert (answer.status_code, answer.json()["error"]["message"]) == (
            404,
            "Payout detail not found",
        )


def test_the_checks_of_a_bank_payout_come_in_their_order(bakery: Shop, stablecoins: None) -> None:
    def ask(asset_id: str, amount: str, **fields: Any) -> tuple[int, Any]:
        answer = make.ask_payout(bakery.live, amount, asset_id=asset_id, **fields)
        return answer.status_code, answer.json()["error"]

    account = {"fiat_payout_detail_id": bank(bakery)}
    assert ask("ETH", "x", **account) == (422, "Amount must be a positive integer string")
    assert ask("ETH", "1", fiat_payout_detail_id=bank(bakery, is_verified=False)) == (
        422,
        "Bank account is not verified",
    )
    assert ask("ETH", "1", **account) == (403, "Store KYC verification required")
    change_store(bakery.store, kyc_confirmed_at=clock.real_now())
    set_store_cap(bakery.store, "ETH_USDC", per_tx_atomic=50_000)
    assert ask("ETH", "1", **account) == (422, "ETH is not eligible for fiat payouts")
    assert ask("ETH_USDC", "99999", **account) == (422, "Amount is below the minimum of 0.1 USDC")
    assert ask("ETH_USDT", "9999999", **account) == (422, "Amount is below the minimum of 10 USDT")
    assert ask("ETH_USDC", "200000", **account) == (422, "Per-payout limit exceeded")
    assert ask("ETH_USDT", "10000000", **account) == (422, "Insufficient available balance")


def test_a_daily_cap_counts_the_utc_day_and_not_what_came_back(bakery: Shop) -> None:
    make.funded(bakery.test)
    set_store_cap(bakery.store, "SETH", daily_atomic=3 * 10**16)
    change_store(bakery.store, payout_review_threshold_cents=0)
    first = make.payout(bakery.test, 2 * 10**16)
    assert make.ask_payout(bakery.test, str(2 * 10**16)).json() == {
        "error": "Daily payout limit exceeded"
    }
    assert make.payout(bakery.test, 10**16)["status"] == "requires_review"
    _reject(first["id"])
    assert make.payout(bakery.test, 2 * 10**16)
    assert make.ask_payout(bakery.test, str(10**16)).status_code == 422
    make.advance(bakery.test, 24 * 3600)
    assert make.payout(bakery.test, 3 * 10**16)


def _reject(payout_id: str) -> None:
    reject_payout(Payout.objects.select_related("store").get(pk=payout_id), "odd")


def test_one_key_makes_one_payout_whatever_its_body(bakery: Shop) -> None:
    make.funded(bakery.test)
    refused = make.ask_payout(bakery.test, "0", key="one")
    first = make.ask_payout(bakery.test, str(10**16), key="one")
    again = make.ask_payout(bakery.test, "2", key="one")
    assert (refused.status_code, first.status_code, again.status_code) == (422, 201, 201)
    assert first.json()["id"] == again.json()["id"] and again["Idempotent-Replayed"] == "true"
    assert bakery.test.post("/payouts", {}).json() == {
        "error": "Idempotency-Key header is required"
    }
    assert make.ask_payout(bakery.test, "1", key="x" * 256).json() == {
        "error": "Idempotency-Key is invalid"
    }


def test_a_body_that_is_no_payout_is_answered_with_what_its_key_made(bakery: Shop) -> None:
    make.funded(bakery.test)
    first = make.ask_payout(bakery.test, str(10**16), key="one").json()
    for broken in ({"amount_atomic": 5}, {"destination_address": None}, {"asset_id": "NOPE"}):
        body = {
            "asset_id": "SETH",
            "amount_atomic": "1",
            "destination_address": make.fresh_address(),
            **broken,
        }
        again = bakery.test.post("/payouts", body, key="one")
        assert (again.status_code, again.json()["id"], again["Idempotent-Replayed"]) == (
            201,
            first["id"],
            "true",
        ), broken


WRONG_QUOTES: list[tuple[dict[str, Any], int, str]] = [
    ({"asset_id": None, "amount_atomic": "x"}, 422, "asset_id is required"),
    ({"asset_id": "NOPE", "amount_atomic": "x"}, 404, "Asset not found"),
    ({"amount_atomic": 5, "fiat_payout_detail_id": None}, 422, NOT_AN_AMOUNT),
    ({"fiat_payout_detail_id": None}, 422, "Exactly one destination is required"),
    ({"fiat_payout_detail_id": 5}, 422, "fiat_payout_detail_id must be a string"),
    ({"fiat_payout_detail_id": "x"}, 404, "Payout detail not found"),
]


def test_what_is_wrong_about_a_quote_is_told_in_the_same_order(
    bakery: Shop, stablecoins: None
) -> None:
    right = {
        "asset_id": "ETH_USDC",
        "amount_atomic": "2000000",
        "fiat_payout_detail_id": bank(bakery),
    }
    for changes, status, sentence in WRONG_QUOTES:
        answer = bakery.live.post("/payouts/quote", {**right, **changes})
        told = answer.json()["error"]
        assert (answer.status_code, told if isinstance(told, str) else told["message"]) == (
            status,
            sentence,
        ), changes


def test_the_list_is_newest_first_paged_and_filtered(bakery: Shop) -> None:
    make.funded(bakery.test)
    made = [make.payout(bakery.test, 10**16)["id"] for _ in range(3)]
    page = bakery.test.get("/payouts").json()
    assert [item["id"] for item in page["data"]] == made[::-1]
    assert page["pagination"] == {"page": 1, "per_page": 25, "total": 3, "total_pages": 1}
    assert [
        item["id"] for item in bakery.test.get("/payouts?page=2&per_page=2").json()["data"]
    ] == [made[0]]
    for name, value, count in [
        ("status", "pending", 3),
        ("status", "confirmed", 0),
        ("status", "nonsense", 3),
        ("payout_rail", "crypto", 3),
        ("payout_rail", "fiat_manual", 0),
        ("asset_id", "SETH", 3),
        ("asset_id", "%00", 0),
        ("payout_schedule_id", "x", 0),
        ("payout_schedule_id", str(uuid.uuid4()), 0),
    ]:
        assert bakery.test.get(f"/payouts?{name}={value}").json()["pagination"]["total"] == count, (
            name,
            value,
        )


def test_nobody_else_sees_a_payout(cast: Cast) -> None:
    make.funded(cast.bakery.test)
    payout_id = make.payout(cast.bakery.test, 10**16)["id"]
    for api in (cast.strangers.test, cast.bakery.live):
        for answer in (api.get(f"/payouts/{payout_id}"), api.post(f"/payouts/{payout_id}/retry")):
            assert (answer.status_code, answer.json()["error"]) == (
                404,
                {"message": "Payout not found", "code": None},
            )


def test_a_quote_tells_what_would_land_and_makes_nothing(bakery: Shop, stablecoins: None) -> None:
    body = {
        "asset_id": "ETH_USDC",
        "amount_atomic": "2000000",
        "fiat_payout_detail_id": bank(bakery),
    }
    told = bakery.live.post("/payouts/quote", body).json()
    assert {
        key: told[key]
        for key in ("asset_id", "coin_symbol", "fiat_currency", "source_currency", "meets_minimum")
    } == {
        "asset_id": "ETH_USDC",
        "coin_symbol": "USDC",
        "fiat_currency": "EUR",
        "source_currency": "USDC",
        "meets_minimum": True,
    }
    assert (
        told["estimated_fiat_cents"] > 0
        and told["estimated_fee_cents"] >= 0
        and told["minimum_atomic"] == "100000"
    )
    small = bakery.live.post("/payouts/quote", {**body, "amount_atomic": "5"}).json()
    assert small["meets_minimum"] is False
    eth = bakery.live.post("/payouts/quote", {**body, "asset_id": "ETH"})
    assert (eth.status_code, eth.json()) == (422, {"error": "ETH is not eligible for fiat payouts"})
    assert bakery.live.get("/payouts").json()["data"] == []


def test_only_a_failed_payout_that_still_has_its_funds_can_be_retried(bakery: Shop) -> None:
    make.funded(bakery.test)
    change_store(bakery.store, payout_review_threshold_cents=0)
    payout_id = make.payout(bakery.test, 10**16)["id"]
    assert (
        bakery.test.post(f"/payouts/{payout_id}/retry").json()["error"]["code"] == "not_retryable"
    )
    _reject(payout_id)
    answer = bakery.test.post(f"/payouts/{payout_id}/retry")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "not_retryable")
    told = bakery.test.get(f"/payouts/{payout_id}").json()
    assert [state_transition["to"] for state_transition in told["state_transitions"]] == [
        "pending",
        "failed",
    ]
    assert (told["failure_code"], told["failure_reason"], told["funds_returned"]) == (
        "unknown",
        "odd",
        True,
    )
