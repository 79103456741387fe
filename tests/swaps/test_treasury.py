"""The treasury can't be sold to, or bought from, at a rate that the market has left. The sources of
rates are servers of ours."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from pytest_httpserver import HTTPServer

from apps.assets import rates
from apps.assets.models import Asset, Rate
from apps.core import clock
from apps.ledger.selectors import balances
from apps.stores.models import Role
from apps.stores.services import change_store
from apps.swaps.models import Swap, SwapStep
from apps.swaps.services.progress import advance_swaps
from tests.assets.test_providers import GECKO_PRICES, KRAKEN_TRADES, gecko, kraken
from tests.cast import Cast, Shop, join, shop_of
from tests.make import service_coins, store_coins
from tests.payouts.conftest import _django_db_helper, committed, pytest_itemcollected

__all__ = ["_django_db_helper", "committed", "pytest_itemcollected"]
ETHER = 10**18
DOLLAR = 10**6
CONTRACT = "0x" + "01" * 20
AT_2000 = 1990 * DOLLAR  # an ether, less the spread
IN_DOUBT = (503, "quote_unavailable")


class Market:
    """CoinGecko and Kraken, of ours: what each says an ether costs, None when it is down. A dollar
    coin is a dollar."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server

    def say(self, coingecko: str | None, kraken_says: str | None) -> None:
        self.server.clear_all_handlers()
        rates._paused_until = 0.0
        if coingecko is not None:
            prices = {**GECKO_PRICES, "ethereum": {"usd": float(coingecko)}, "usd-coin": {"usd": 1}}
            self.server.expect_request("/simple/price").respond_with_handler(gecko(prices))
        if kraken_says is not None:
            trades = {**KRAKEN_TRADES, "XETHZUSD": kraken_says, "USDCUSD": "1.0"}
            self.server.expect_request("/Ticker").respond_with_handler(kraken(trades))

    def is_known(
        self, coingecko: str | None, kraken_says: str | None, *, seconds_ago: int = 0
    ) -> None:
        """The periodic job has asked, so long ago."""
        self.say(coingecko, kraken_says)
        rates.refresh()
        Rate.objects.filter(asset__in=("ETH", "ETH_USDC")).update(
            as_of=clock.real_now() - timedelta(seconds=seconds_ago)
        )

    def times_asked(self) -> int:
        return sum(request.path == "/simple/price" for request, _ in self.server.log)


@pytest.fixture
def market(
    httpserver: HTTPServer, settings: Any, request: pytest.FixtureRequest
) -> Iterator[Market]:
    request.getfixturevalue("committed" if "committed" in request.fixturenames else "db")
    options = {"base_url": httpserver.url_for("")}
    names = ("apps.assets.providers.coingecko.CoinGecko", "apps.assets.providers.kraken.Kraken")
    before = settings.PROVIDERS
    settings.PROVIDERS = {
        **before,
        "rates": {
            **before["rates"],
            "live": [{"BACKEND": name, "OPTIONS": options} for name in names],
        },
    }
    dollar = Asset.objects.filter(pk="ETH_USDC")
    was = dollar.values("contract_address", "is_active").get()
    dollar.update(contract_address=CONTRACT, is_active=True)
    Rate.objects.filter(asset__chain__mode="live").delete()
    found = Market(httpserver)
    found.is_known("2000", "2000")
    yield found
    if "committed" in request.fixturenames:
        settings.PROVIDERS = before
        rates.refresh()
        dollar.update(**was)
        SwapStep.objects.all().delete()
    rates._paused_until = 0.0


@pytest.fixture
def stocked(market: Market, bakery: Shop) -> Shop:
    """A store with ten ether in a service with a million dollars."""
    service_coins("ETH_USDC", 1_000_000 * DOLLAR)
    store_coins(bakery.store, "ETH", 10 * ETHER)
    return bakery


def sell(shop: Shop, key: str = "k", ether: str = "1") -> Any:
    body = {
        "source_asset_id": "ETH",
        "buy_asset_id": "ETH_USDC",
        "sell_amount_atomic": str(int(float(ether) * ETHER)),
    }
    return shop.live.post("/balance_swaps", body, key=key)


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def outcome(shop: Shop, made: Any) -> tuple[str, str | None, str | None]:
    assert made.status_code == 201, made.content
    advance_swaps()
    told = shop.live.get(f"/balance_swaps/{made.json()['id']}").json()
    return told["status"], told["actual_buy_amount_atomic"], told["failure_reason"]


# --- rates that are old or have moved ---


def test_a_swap_at_a_rate_that_the_market_has_left_is_not_filled_at_it(
    market: Market, stocked: Shop
) -> None:
    market.is_known("2000", "2000", seconds_ago=31)
    market.say("1900", "1900")
    assert outcome(stocked, sell(stocked)) == (
        "failed",
        None,
        "The rate moved beyond the slippage tolerance",
    )
    assert balances(stocked.store.pk, "live")["ETH"].available_atomic == 10 * ETHER


def test_an_old_rate_is_asked_for_anew_before_a_swap_is_filled(
    market: Market, stocked: Shop
) -> None:
    market.is_known("2000", "2000", seconds_ago=31)
    market.say("2004", "2003")
    assert outcome(stocked, sell(stocked)) == ("completed", str(2004 * 995 * DOLLAR // 1000), None)


def test_a_rate_that_is_fresh_and_has_not_moved_is_not_asked_for_again(
    market: Market, stocked: Shop
) -> None:
    market.is_known("2000", "2000", seconds_ago=20)
    asked = market.times_asked()
    assert outcome(stocked, sell(stocked)) == ("completed", str(AT_2000), None)
    assert market.times_asked() == asked


def test_a_rate_that_moved_by_more_than_the_spread_is_asked_for_again_although_it_is_fresh(
    market: Market, stocked: Shop
) -> None:
    made = sell(stocked)
    market.is_known("2030", "2030", seconds_ago=10)
    market.say("2002", "2002")
    assert outcome(stocked, made) == ("completed", str(2002 * 995 * DOLLAR // 1000), None)


def test_while_no_source_answers_an_old_rate_fills_nothing_and_they_are_left_alone_for_a_while(
    market: Market, stocked: Shop
) -> None:
    made = [sell(stocked, key=f"k{number}", ether="0.1") for number in range(5)]
    market.is_known("2000", "2000", seconds_ago=31)
    market.say(None, None)
    asked = market.times_asked()
    assert outcome(stocked, made[0])[0] == "pending"
    assert Swap.objects.filter(status="pending").count() == 5
    assert market.times_asked() == asked + 1
    Rate.objects.update(valid_until=clock.real_now() + timedelta(hours=1))
    with time_machine.travel(clock.real_now() + timedelta(minutes=16), tick=True):
        assert outcome(stocked, made[0]) == ("failed", None, "The exchange rate is too old")
    market.say("2000", "2000")


# --- one source, and two ---


def test_a_single_source_that_jumps_is_refused_until_another_agrees(
    market: Market, stocked: Shop
) -> None:
    open_one = sell(stocked, key="before", ether="0.1")
    market.is_known("2100", None)
    assert refusal(sell(stocked, key="small", ether="0.01")) == IN_DOUBT
    assert outcome(stocked, open_one)[0] == "pending"
    market.is_known("2101", None)  # it says so again: that is no second opinion
    assert refusal(sell(stocked, key="small", ether="0.01")) == IN_DOUBT
    market.is_known("2101", "2090")
    assert outcome(stocked, sell(stocked, key="small", ether="0.01"))[0] == "completed"


def test_sources_that_contradict_each_other_sell_nothing(market: Market, stocked: Shop) -> None:
    market.is_known("2010", "2052")
    assert refusal(sell(stocked, ether="0.01")) == IN_DOUBT
    market.is_known("2010", "2045")
    assert outcome(stocked, sell(stocked, ether="0.01"))[0] == "completed"


def test_above_an_amount_two_sources_must_agree(market: Market, stocked: Shop) -> None:
    market.is_known("2001", None)
    assert refusal(sell(stocked, ether="0.5")) == IN_DOUBT  # 1,000.50 dollars
    assert outcome(stocked, sell(stocked, key="less", ether="0.49"))[0] == "completed"
    market.is_known("2001", "2030")
    assert outcome(stocked, sell(stocked, ether="3"))[0] == "completed"


def test_a_large_swap_waits_when_the_second_source_goes_before_it_is_filled(
    market: Market, stocked: Shop
) -> None:
    made = sell(stocked, ether="3")
    market.is_known("2000", None)
    assert outcome(stocked, made)[0] == "pending"
    market.is_known("2000", "2000")
    assert outcome(stocked, made)[:2] == ("completed", str(3 * AT_2000))


# --- a store's day ---


def test_a_store_swaps_so_much_a_day_and_what_failed_does_not_count(
    market: Market, stocked: Shop, settings: Any
) -> None:
    settings.SWAP_STORE_DAY_USD = 5000
    failed = sell(stocked, key="failed", ether="2")
    Rate.objects.filter(asset="ETH").update(rate=1000, as_of=clock.real_now())
    assert outcome(stocked, failed)[0] == "failed"
    market.is_known("2000", "2000")
    assert outcome(stocked, sell(stocked, key="first", ether="2"))[0] == "completed"
    answer = sell(stocked, key="second", ether="0.6")
    assert (answer.status_code, answer.json()["error"]) == (
        422,
        {
            "message": "No route for this swap: it is above what can be swapped in 24 hours",
            "code": "no_route",
        },
    )
    assert sell(stocked, key="third", ether="0.5").status_code == 201
    assert (
        sell(stocked, key="first").json()["status"] == "completed"
    )  # a replay asks for nothing new
    Swap.objects.update(created_at=clock.real_now() - timedelta(hours=25))
    assert sell(stocked, key="next day", ether="2").status_code == 201


def test_all_stores_of_an_owner_share_a_day_and_closed_ones_count(
    market: Market, stocked: Shop, cast: Cast, settings: Any
) -> None:
    settings.SWAP_STORE_DAY_USD = 5000
    assert sell(stocked, key="first", ether="2").status_code == 201
    change_store(stocked.store, deleted_at=clock.real_now())
    second = shop_of(stocked.owner, "Second")
    for shop in (second, cast.strangers):
        store_coins(shop.store, "ETH", 10 * ETHER)
    assert sell(second, ether="0.6").status_code == 422
    assert sell(second, ether="0.5").status_code == 201
    assert sell(cast.strangers, ether="2").status_code == 201


def test_of_two_swaps_at_once_in_two_stores_of_an_owner_one_fits_into_the_day(
    committed: Cast, market: Market, settings: Any
) -> None:
    settings.SWAP_STORE_DAY_USD = 3000
    service_coins("ETH_USDC", 100_000 * DOLLAR)
    shops = [committed.bakery, committed.strangers]
    join(shops[1].store, committed.alice, Role.OWNER)
    for shop in shops:
        store_coins(shop.store, "ETH", 10 * ETHER)

    def status(shop: Shop) -> int:
        try:
            return int(sell(shop).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(status, shops)) == [201, 422]


def test_of_two_swaps_at_once_only_one_fits_into_the_day(
    committed: Cast, market: Market, settings: Any
) -> None:
    settings.SWAP_STORE_DAY_USD = 3000
    service_coins("ETH_USDC", 100_000 * DOLLAR)
    store_coins(committed.bakery.store, "ETH", 10 * ETHER)

    def one(number: int) -> int:
        try:
            return int(sell(committed.bakery, key=f"k{number}").status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(one, range(2))) == [201, 422]


def test_two_workers_fill_each_swap_once_at_the_new_rate_and_sell_no_more_than_there_is(
    committed: Cast, market: Market
) -> None:
    service_coins("ETH_USDC", 3000 * DOLLAR)
    shops = (committed.bakery, committed.strangers)
    for shop in shops:
        store_coins(shop.store, "ETH", ETHER)
        assert sell(shop).status_code == 201
    market.is_known("2000", "2000", seconds_ago=31)
    market.say("2001", "2001")

    def work(_: int) -> None:
        try:
            advance_swaps()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))
    stores = [shop.store.pk for shop in shops]
    ended = Swap.objects.filter(store__in=stores).values_list(
        "status", "actual_buy_amount_atomic", "failure_reason"
    )
    bought = 2001 * 995 * DOLLAR // 1000
    assert sorted(ended) == [("completed", bought, None), ("failed", None, "Not enough liquidity")]
    held = [balances(pk, "live").get("ETH_USDC") for pk in stores]
    assert sorted(item.available_atomic if item else 0 for item in held) == [0, bought]
