"""Swaps on a real exchange: Uniswap V2's own contracts on the local chain, bought from the hot
wallet."""

from copy import copy
from pathlib import Path
from typing import Any

import pytest

from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.chain.reasons import Reason
from apps.chain.sending import calls, sender, signing_rounds
from apps.ledger.selectors import account_balance, balances
from apps.swaps.models import Swap
from apps.swaps.services.progress import advance_swaps
from dev.demo import exchange as venue
from tests import make
from tests.cast import Shop
from tests.swaps.conftest import DOLLAR, ETHER, Venue, is_exact, open_market
from tests.swaps.ground import bakery, ground_of, place

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
ground = ground_of(lambda place, shop: open_market(place))


def start(shop: Shop, source: str, buy: str, amount: int, key: str = "k") -> str:
    body = {"source_asset_id": source, "buy_asset_id": buy, "sell_amount_atomic": str(amount)}
    answer = shop.test.post("/balance_swaps", body, key=key)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def told(shop: Shop, swap_id: str) -> dict[str, Any]:
    body: dict[str, Any] = shop.test.get(f"/balance_swaps/{swap_id}").json()
    return body


def test_coins_are_swapped_for_tokens_in_one_transaction_at_the_quoted_price(
    market: Venue, bakery: Shop
) -> None:
    market.fund_hot(50)
    make.store_coins(bakery.store, "SETH", 5 * ETHER)
    market.chain.call("anvil_setBalance", market.hot, hex(55 * ETHER))
    quote = bakery.test.post(
        "/balance_swaps/quote",
        {"source_asset_id": "SETH", "buy_asset_id": "USDC_SETH", "sell_amount_atomic": str(ETHER)},
    ).json()
    assert int(quote["estimated_buy_amount_atomic"]) == 1_990_031_876
    swap_id = start(bakery, "SETH", "USDC_SETH", ETHER)
    market.work()
    body = told(bakery, swap_id)
    assert (body["status"], body["actual_buy_amount_atomic"], body["failure_reason"]) == (
        "completed",
        "1990031876",
        None,
    )
    assert market.tokens(market.hot) == 1_990_031_876 and market.calls_from_hot() == 1
    assert body["tx_hash"] == OutgoingTransaction.objects.get(purpose="swap").tx_hash
    assert (
        account_balance(None, "test", "SETH", "swap_clearing")
        == account_balance(None, "test", "USDC_SETH", "swap_clearing")
        == 0
    )
    held = balances(bakery.store.pk, "test")
    assert (held["SETH"].available_atomic, held["USDC_SETH"].available_atomic) == (
        4 * ETHER,
        1_990_031_876,
    )
    assert is_exact()


def test_tokens_are_approved_for_the_exact_amount_then_swapped_for_coins(
    market: Venue, bakery: Shop
) -> None:
    market.fund_hot(1)
    make.store_coins(bakery.store, "USDC_SETH", 3000 * DOLLAR)
    market.chain.mint(market.token, market.hot, 3000 * DOLLAR)
    before = market.native(market.hot)
    swap_id = start(bakery, "USDC_SETH", "SETH", 2000 * DOLLAR)
    market.work(2)
    body = told(bakery, swap_id)
    assert (body["status"], body["failure_reason"]) == ("completed", None)
    gas = sum(
        int(outgoing_transaction.network_fee_atomic)
        for outgoing_transaction in OutgoingTransaction.objects.all()
    )
    assert market.native(market.hot) == before + int(body["actual_buy_amount_atomic"]) - gas
    assert (market.tokens(market.hot), market.calls_from_hot()) == (1000 * DOLLAR, 2)
    assert market.router is not None
    allowance = market.chain.call(
        "eth_call",
        {
            "to": market.token,
            "data": f"0xdd62ed3e{market.hot[2:]:0>64}{market.router.address[2:]:0>64}",
        },
        "latest",
    )
    assert int(allowance, 16) == 0
    assert is_exact()


def test_tokens_are_swapped_for_tokens_through_the_wrapped_coin(
    market: Venue, bakery: Shop
) -> None:
    other = market.chain.deploy_token()
    Asset.objects.filter(pk="USDT_SETH").update(contract_address=other, is_active=True)
    assert market.router is not None
    venue.fill(market.wallet, market.router, venue.Pool(other))
    market.fund_hot(1)
    make.store_coins(bakery.store, "USDC_SETH", 100 * DOLLAR)
    market.chain.mint(market.token, market.hot, 100 * DOLLAR)
    swap_id = start(bakery, "USDC_SETH", "USDT_SETH", 100 * DOLLAR)
    market.work(2)
    body = told(bakery, swap_id)
    assert (
        body["status"] == "completed"
        and market.tokens(market.hot, other) == int(body["actual_buy_amount_atomic"]) > 99 * DOLLAR
    )
    assert is_exact()


def test_two_swaps_of_one_token_never_use_each_others_allowance(
    market: Venue, bakery: Shop
) -> None:
    market.fund_hot(1)
    make.store_coins(bakery.store, "USDC_SETH", 300 * DOLLAR)
    market.chain.mint(market.token, market.hot, 300 * DOLLAR)
    ids = [
        start(bakery, "USDC_SETH", "SETH", amount * DOLLAR, key=str(amount))
        for amount in (200, 100)
    ]
    market.work()
    assert OutgoingTransaction.objects.filter(purpose="approval").count() == 1
    market.work(3)
    assert [told(bakery, item)["status"] for item in ids] == ["completed", "completed"]
    assert is_exact()


def test_a_price_that_moved_beyond_the_slippage_gives_the_source_back(
    market: Venue, bakery: Shop
) -> None:
    market.fund_hot(1)
    make.store_coins(bakery.store, "USDC_SETH", 2000 * DOLLAR)
    market.chain.mint(market.token, market.hot, 2000 * DOLLAR)
    swap_id = start(bakery, "USDC_SETH", "SETH", 2000 * DOLLAR)
    market.work()
    assert OutgoingTransaction.objects.get(purpose="approval").status == "confirmed"
    assert market.router is not None
    rich = calls.swap(
        market.router,
        Asset.objects.get(pk="USDC_SETH"),
        Asset.objects.get(pk="SETH"),
        10**11,
        1,
        market.wallet.address,
        2**40,
    )
    market.chain.mint(market.token, market.wallet.address, 10**11)
    market.wallet.receipt(
        market.wallet.send(market.token, data=calls.approval(market.router, 10**11))
    )
    market.wallet.receipt(market.wallet.send(market.router.address, data=rich))
    market.work(2)
    body = told(bakery, swap_id)
    assert (body["status"], body["failure_reason"], body["actual_buy_amount_atomic"]) == (
        "failed",
        "The exchange refuses the swap",
        None,
    )
    held = balances(bakery.store.pk, "test")["USDC_SETH"]
    assert (held.available_atomic, held.reserved_atomic, market.tokens(market.hot)) == (
        2000 * DOLLAR,
        0,
        2000 * DOLLAR,
    )
    taken_back = OutgoingTransaction.objects.get(reference=f"{swap_id}:end")
    assert (taken_back.status, taken_back.handled_status) == ("confirmed", "confirmed")
    assert is_exact()


def test_one_that_the_chain_reverts_pays_its_gas_and_gives_the_source_back(
    market: Venue, bakery: Shop
) -> None:
    """The price moves after the signature: the exchange reverts in the block."""
    market.fund_hot(10)
    make.store_coins(bakery.store, "SETH", ETHER)
    market.chain.call("anvil_setBalance", market.hot, hex(11 * ETHER))
    swap_id = start(bakery, "SETH", "USDC_SETH", ETHER)
    advance_swaps()
    signing_rounds.sign_due()
    assert market.router is not None
    rich = calls.swap(
        market.router,
        Asset.objects.get(pk="SETH"),
        Asset.objects.get(pk="USDC_SETH"),
        0,
        1,
        market.wallet.address,
        2**40,
    )
    market.wallet.receipt(market.wallet.send(market.router.address, 50 * ETHER, rich))
    market.work()
    row = OutgoingTransaction.objects.get(purpose="swap")
    assert (told(bakery, swap_id)["status"], row.status) == (
        "failed",
        "failed",
    ) and row.network_fee_atomic > 0
    assert balances(bakery.store.pk, "test")["SETH"].available_atomic == ETHER
    assert is_exact()


def test_a_pair_without_a_pool_has_no_route(market: Venue, bakery: Shop) -> None:
    other = market.chain.deploy_token()
    Asset.objects.filter(pk="USDT_SETH").update(contract_address=other, is_active=True)
    body = {
        "source_asset_id": "SETH",
        "buy_asset_id": "USDT_SETH",
        "sell_amount_atomic": str(ETHER),
    }
    answer = bakery.test.post("/balance_swaps/quote", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_route")


def test_a_chain_that_is_not_reached_gives_no_quote(
    market: Venue, bakery: Shop, settings: Any
) -> None:
    settings.CHAIN_URLS = {"sepolia": ["http://127.0.0.1:9"]}
    body = {
        "source_asset_id": "SETH",
        "buy_asset_id": "USDC_SETH",
        "sell_amount_atomic": str(ETHER),
    }
    answer = bakery.test.post("/balance_swaps/quote", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "quote_unavailable")


WRONG = [
    {"to_address": "0x" + "12" * 20},
    {"call_data": "0x38ed1739"},
    {"call_data": "0x7ff36ab5zz"},
    {"amount_atomic": 7},
    {"receives_asset_id": "USDC_SETH"},
    {"purpose": "refund"},
]


def test_the_signer_reads_every_call_again_and_signs_no_other(market: Venue, bakery: Shop) -> None:
    market.fund_hot(10)
    make.store_coins(bakery.store, "USDC_SETH", 10 * DOLLAR)
    market.chain.mint(market.token, market.hot, 10 * DOLLAR)
    swap_id = start(bakery, "USDC_SETH", "SETH", 10 * DOLLAR)
    market.work()
    advance_swaps()
    asked = OutgoingTransaction.objects.get(reference=swap_id, purpose="swap", nonce=None)
    assert calls.refusal_of_call(asked, market.hot) is None
    for change in WRONG:
        row = copy(asked)
        for name, value in change.items():
            setattr(row, name, value)
        assert calls.refusal_of_call(row, market.hot) is Reason.STRANGE_CALL, change
    assert Swap.objects.get(pk=swap_id).status == "pending"


def test_the_bought_coins_go_to_the_hot_wallet_or_the_call_is_not_signed(
    market: Venue, bakery: Shop
) -> None:
    make.store_coins(bakery.store, "SETH", ETHER)
    swap_id = start(bakery, "SETH", "USDC_SETH", ETHER)
    advance_swaps()
    assert market.router is not None
    source = Asset.objects.get(pk="SETH")
    buy = Asset.objects.get(pk="USDC_SETH")
    stolen = calls.swap(market.router, source, buy, ETHER, 1, "0x" + "66" * 20, 2**40)
    OutgoingTransaction.objects.filter(reference=swap_id).update(call_data=stolen)
    market.fund_hot(10)
    market.work()
    assert (told(bakery, swap_id)["status"], market.calls_from_hot()) == ("failed", 0)


def test_the_demos_exchange_is_put_on_a_chain_once(place: Venue, tmp_path: Path) -> None:
    kept = tmp_path / "demo-exchange.txt"
    line = venue.place(place.wallet, [place.token], kept)
    if not line:
        pytest.skip("the exchange's contracts aren't installed")
    height = place.chain.height
    assert venue.place(place.wallet, [place.token], kept) == line
    assert place.chain.height == height
    router = line.removeprefix("ethereum=").partition(":")[0]
    assert place.wallet.has_code(router)
    kept.write_text(f"{router[:-1]}0:{router}\n")
    assert venue.place(place.wallet, [place.token], kept) != line, (
        "a chain that was begun anew gets a new one"
    )


def test_a_swap_that_is_under_way_ends_when_its_exchange_is_no_longer_used(
    market: Venue, bakery: Shop, settings: Any
) -> None:
    market.fund_hot(50)
    make.store_coins(bakery.store, "SETH", 5 * ETHER)
    market.chain.call("anvil_setBalance", market.hot, hex(55 * ETHER))
    swap_id = start(bakery, "SETH", "USDC_SETH", ETHER)
    advance_swaps()
    signing_rounds.sign_due()
    sender.run_due()
    market.arrives()
    sender.run_due()
    assert OutgoingTransaction.objects.get(purpose="swap").status == "confirmed"
    settings.SWAP_ROUTERS = []
    advance_swaps()
    assert told(bakery, swap_id)["status"] == "completed"
    assert is_exact()
