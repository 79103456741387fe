"""The contract of a rate provider, asked of every adapter. The real ones speak their own format to
a server of ours."""

import json
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from apps.assets.providers.base import RateProvider
from apps.assets.providers.coinbase import Coinbase
from apps.assets.providers.coingecko import CoinGecko
from apps.assets.providers.fixed import ETHER, Fixed
from apps.assets.providers.kraken import Kraken
from apps.core import clock
from apps.core.errors import ProviderError

PAIRS = [(coin, currency) for coin in ("ETH", "USDC", "USDT", "POL", "DOGE") for currency in ETHER]
GECKO_PRICES = {
    "ethereum": {
        "usd": 2000.123456789012345678,
        "eur": 1800.5,
        "gbp": 1550,
        "jpy": 300000,
        "hkd": 15600.1,
        "sek": 20500,
    },
    "usd-coin": {"usd": 0.9998, "eur": 0.9},
    "tether": {"usd": 1.0001},
    "polygon-ecosystem-token": {"usd": 0.25},
    "bitcoin": {"usd": 60000},
}
KRAKEN_TRADES = {
    "XETHZUSD": "2000.12000",
    "XETHZEUR": "1800.50000",
    "XETHZGBP": "1550.00",
    "XETHZJPY": "300000",
    "ETHCHF": "1750.00",
    "USDCUSD": "0.99980",
    "USDCEUR": "0.90000",
    "USDTZUSD": "1.00010",
    "USDTEUR": "0.9001",
    "POLUSD": "0.25",
    "POLEUR": "0.2251",
    "XXBTZUSD": "60000.1",
    "XXBTZEUR": "54000.0",
    "XXBTZGBP": "46500.0",
    "XXBTZJPY": "9000000",
    "XLTCZUSD": "80.02",
    "XLTCZEUR": "72.01",
    "AVAXUSD": "20.01",
    "AVAXEUR": "18.02",
    "EURCUSD": "1.1105",
    "EURCEUR": "0.9999",
    "ZEURZUSD": "1.1111",
    "ZGBPZUSD": "1.2903",
    "ZUSDZJPY": "150.00",
    "USDCHF": "0.875",
}
KRAKEN_ALTERNATIVE_NAMES = {
    "XETHZUSD": "ETHUSD",
    "XETHZEUR": "ETHEUR",
    "XETHZGBP": "ETHGBP",
    "XETHZJPY": "ETHJPY",
    "USDTZUSD": "USDTUSD",
    "XXBTZUSD": "XBTUSD",
    "XXBTZEUR": "XBTEUR",
    "XXBTZGBP": "XBTGBP",
    "XXBTZJPY": "XBTJPY",
    "XLTCZUSD": "LTCUSD",
    "XLTCZEUR": "LTCEUR",
    "ZEURZUSD": "EURUSD",
    "ZGBPZUSD": "GBPUSD",
    "ZUSDZJPY": "USDJPY",
}


def now() -> int:
    return int(clock.real_now().timestamp())


def gecko(prices: dict[str, dict[str, Any]] = GECKO_PRICES) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        ids = request.args["ids"].split(",")
        currencies = request.args["vs_currencies"].split(",")
        told = {
            coin: {key: value for key, value in prices[coin].items() if key in currencies}
            for coin in ids
            if coin in prices
        }
        if request.args.get("include_last_updated_at") == "true":
            told = {
                coin: {**found, "last_updated_at": prices[coin].get("last_updated_at", now())}
                for coin, found in told.items()
            }
        return Response(json.dumps(told), content_type="application/json")

    return answer


def kraken(trades: dict[str, Any] = KRAKEN_TRADES) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        asked = set(request.args["pair"].split(","))
        known = {KRAKEN_ALTERNATIVE_NAMES.get(name, name): name for name in KRAKEN_TRADES}
        if not asked <= known.keys():
            return Response(
                json.dumps({"error": ["EQuery:Unknown asset pair"]}),
                content_type="application/json",
            )
        told = {
            known[name]: {"a": ["1", "1", "1"], "c": [trades[known[name]], "0.1"]}
            for name in asked
            if known[name] in trades
        }
        return Response(json.dumps({"error": [], "result": told}), content_type="application/json")

    return answer


# A stand-in of ours, in the documented form of Coinbase's answers.
COINBASE_RATES = {
    "USD": "1.0",
    "EUR": "0.9",
    "JPY": "150",
    "ETH": "0.0005",
    "USDT": "0.9999",
    "USDC": "1.0",
    "BTC": "0.00001666",
}


def coinbase(request: Request) -> Response:
    currency = request.args["currency"]
    if currency not in COINBASE_RATES:
        told: dict[str, Any] = {
            "errors": [{"id": "invalid_request", "message": f"Currency is invalid: {currency}"}]
        }
        return Response(json.dumps(told), status=400, content_type="application/json")
    told = {"data": {"currency": currency, "rates": COINBASE_RATES}}
    return Response(json.dumps(told), content_type="application/json")


@pytest.fixture(params=["fixed", "coingecko", "kraken", "coinbase"])
def provider(request: pytest.FixtureRequest, httpserver: HTTPServer) -> RateProvider:
    httpserver.expect_request("/simple/price").respond_with_handler(gecko())
    httpserver.expect_request("/Ticker").respond_with_handler(kraken())
    httpserver.expect_request("/exchange-rates").respond_with_handler(coinbase)
    adapters = {
        "fixed": Fixed,
        "coingecko": lambda: CoinGecko(httpserver.url_for("")),
        "kraken": lambda: Kraken(httpserver.url_for("")),
        "coinbase": lambda: Coinbase(httpserver.url_for("")),
    }
    made: RateProvider = adapters[request.param]()
    return made


@pytest.fixture(params=["coingecko", "kraken", "coinbase"])
def remote(request: pytest.FixtureRequest, httpserver: HTTPServer) -> tuple[RateProvider, str]:
    """An adapter that asks outside, and the path it asks."""
    if request.param == "kraken":
        return Kraken(httpserver.url_for(""), timeout_seconds=0.5), "/Ticker"
    if request.param == "coinbase":
        return Coinbase(httpserver.url_for(""), timeout_seconds=0.5), "/exchange-rates"
    return CoinGecko(httpserver.url_for(""), timeout_seconds=0.5), "/simple/price"


class TestEveryProvider:
    def test_rates_are_exact_positive_decimals_of_pairs_that_were_asked_for(
        self, provider: RateProvider
    ) -> None:
        told = provider.rates(PAIRS)
        assert told and told.keys() <= set(PAIRS)
        assert all(
            type(rate) is Decimal and rate.is_finite() and rate > 0 for rate in told.values()
        )

    def test_a_coin_or_currency_it_does_not_know_is_absent(self, provider: RateProvider) -> None:
        told = provider.rates([("DOGE", "USD"), ("ETH", "XXX"), ("ETH", "USD")])
        assert told.keys() == {("ETH", "USD")}

    def test_quotes_are_the_rates_with_the_time_of_a_source_that_tells_one(
        self, provider: RateProvider
    ) -> None:
        quotes = provider.quotes(PAIRS)
        assert {pair: quote.rate for pair, quote in quotes.items()} == provider.rates(PAIRS)
        tells_time = provider.name == "coingecko"
        assert all((quote.at is not None) == tells_time for quote in quotes.values())

    def test_nothing_asked_is_nothing_answered(self, provider: RateProvider) -> None:
        assert provider.rates([]) == {}


class TestFixed:
    @pytest.mark.parametrize(("currency", "rate"), ETHER.items())
    def test_one_ether_costs_what_the_table_says(self, currency: str, rate: int) -> None:
        assert Fixed().rates([("ETH", currency)]) == {("ETH", currency): Decimal(rate)}

    def test_a_stablecoin_is_a_dollar_through_the_implied_crosses(self) -> None:
        told = Fixed().rates([("USDC", "USD"), ("USDT", "EUR"), ("USDC", "JPY")])
        assert told == {("USDC", "USD"): 1, ("USDT", "EUR"): Decimal("0.9"), ("USDC", "JPY"): 150}


class TestCoinGecko:
    def test_all_places_arrive(self, httpserver: HTTPServer) -> None:
        body = b'{"ethereum":{"usd":2000.123456789012345678}}'
        httpserver.expect_request("/simple/price").respond_with_data(
            body, content_type="application/json"
        )
        assert CoinGecko(httpserver.url_for("")).rates([("ETH", "USD")])["ETH", "USD"] == Decimal(
            "2000.123456789012345678"
        )

    @pytest.mark.parametrize("moment", [None, "soon", True, -1, 0, 2**40, 17.5])
    def test_a_time_that_is_none_is_not_taken_for_one(
        self, httpserver: HTTPServer, moment: Any
    ) -> None:
        prices = {"ethereum": {"usd": 2000, "last_updated_at": moment}}
        httpserver.expect_request("/simple/price").respond_with_json(prices)
        [quote] = CoinGecko(httpserver.url_for("")).quotes([("ETH", "USD")]).values()
        assert quote == (2000, None)

    def test_the_key_goes_in_the_header_of_its_plan(self, httpserver: HTTPServer) -> None:
        httpserver.expect_request(
            "/simple/price", headers={"x-cg-demo-api-key": "k"}
        ).respond_with_handler(gecko())
        assert CoinGecko(httpserver.url_for(""), api_key="k").rates([("ETH", "USD")])
        assert CoinGecko("https://pro-api.coingecko.com/api/v3", api_key="k").headers == {
            "x-cg-pro-api-key": "k"
        }


class TestCoinbase:
    def test_a_coin_is_the_inverse_of_what_a_dollar_buys_in_every_currency(
        self, httpserver: HTTPServer
    ) -> None:
        httpserver.expect_request("/exchange-rates").respond_with_handler(coinbase)
        told = Coinbase(httpserver.url_for("")).rates(
            [("ETH", "USD"), ("ETH", "EUR"), ("ETH", "JPY"), ("ETH", "SEK")]
        )
        assert told == {("ETH", "USD"): 2000, ("ETH", "EUR"): 1800, ("ETH", "JPY"): 300_000}

    def test_it_says_nothing_of_a_coin_that_it_counts_as_a_dollar(
        self, httpserver: HTTPServer
    ) -> None:
        assert Coinbase(httpserver.url_for("")).rates([("USDC", "USD")]) == {}

    def test_too_many_questions_are_a_failure(self, httpserver: HTTPServer) -> None:
        body = {"errors": [{"id": "rate_limit_exceeded", "message": "Too many requests"}]}
        httpserver.expect_request("/exchange-rates").respond_with_json(body, status=429)
        with pytest.raises(ProviderError):
            Coinbase(httpserver.url_for("")).rates([("ETH", "USD")])


class TestKraken:
    def test_a_currency_it_has_no_coin_pair_for_goes_through_dollars(
        self, httpserver: HTTPServer
    ) -> None:
        httpserver.expect_request("/Ticker").respond_with_handler(kraken())
        told = Kraken(httpserver.url_for("")).rates(PAIRS)
        assert told["USDC", "JPY"] == Decimal("0.99980") * 150
        assert abs(told["POL", "GBP"] - Decimal("0.25") / Decimal("1.2903")) < Decimal("1e-25")
        assert told["ETH", "CHF"] == 1750
        assert ("ETH", "SEK") not in told and ("USDC", "HKD") not in told

    def test_a_missing_cross_leaves_the_pair_out(self, httpserver: HTTPServer) -> None:
        trades = {name: rate for name, rate in KRAKEN_TRADES.items() if name != "ZUSDZJPY"}
        httpserver.expect_request("/Ticker").respond_with_handler(kraken(trades))
        told = Kraken(httpserver.url_for("")).rates(PAIRS)
        assert ("USDC", "JPY") not in told and ("ETH", "JPY") in told

    @pytest.mark.parametrize("gone", ["POLUSD", "XETHZUSD", "USDCHF"])
    def test_a_pair_that_is_traded_no_more_costs_itself_alone_and_is_asked_for_once(
        self, httpserver: HTTPServer, gone: str
    ) -> None:
        refused = KRAKEN_ALTERNATIVE_NAMES.get(gone, gone)
        asked: list[str] = []

        def answer(request: Request) -> Response:
            asked.append(request.args["pair"])
            if refused in request.args["pair"].split(","):
                body = json.dumps({"error": ["EQuery:Unknown asset pair"]})
                return Response(body, content_type="application/json")
            return kraken()(request)

        httpserver.expect_request(f"/{gone}/Ticker").respond_with_handler(answer)
        source = Kraken(httpserver.url_for(f"/{gone}"))
        told = source.rates(PAIRS)
        assert told["USDC", "EUR"] == Decimal("0.90000")
        assert ("POL", "USD") not in told or gone != "POLUSD"
        assert (("ETH", "USD") in told) is (gone != "XETHZUSD")
        asked.clear()
        assert Kraken(httpserver.url_for(f"/{gone}")).rates(PAIRS) == told
        assert len(asked) == 1 and refused not in asked[0].split(",")


class TestASourceThatFails:
    @pytest.mark.parametrize("status", [301, 400, 401, 404, 429, 500, 503])
    def test_any_status_but_200_is_a_failure(
        self, remote: tuple[RateProvider, str], httpserver: HTTPServer, status: int
    ) -> None:
        httpserver.expect_request(remote[1]).respond_with_data(
            "{}", status=status, headers={"Location": httpserver.url_for("/simple/price")}
        )
        with pytest.raises(ProviderError):
            remote[0].rates([("ETH", "USD")])

    @pytest.mark.parametrize(
        "body",
        [b"<html>busy</html>", b"", b"[]", b"5", b"null", b'"text"', b"{" * 5000, b"\xff\xfe"],
    )
    def test_rubbish_is_a_failure(
        self, remote: tuple[RateProvider, str], httpserver: HTTPServer, body: bytes
    ) -> None:
        httpserver.expect_request(remote[1]).respond_with_data(body)
        with pytest.raises(ProviderError):
            remote[0].rates([("ETH", "USD")])

    def test_a_huge_body_is_a_failure(
        self, remote: tuple[RateProvider, str], httpserver: HTTPServer
    ) -> None:
        httpserver.expect_request(remote[1]).respond_with_data(b"[" + b"1," * 3_000_000 + b"1]")
        with pytest.raises(ProviderError):
            remote[0].rates([("ETH", "USD")])

    def test_a_dead_address_is_a_failure(self) -> None:
        for dead in (Kraken("http://127.0.0.1:9"), CoinGecko("http://127.0.0.1:9")):
            with pytest.raises(ProviderError):
                dead.rates([("ETH", "USD")])

    def test_a_slow_answer_is_a_failure(
        self, remote: tuple[RateProvider, str], httpserver: HTTPServer
    ) -> None:
        never = threading.Event()

        def drip(_: Request) -> Response:
            return Response(
                (b" " for _ in range(20) if not never.wait(0.1)), content_type="application/json"
            )

        httpserver.expect_request(remote[1]).respond_with_handler(drip)
        with pytest.raises(ProviderError):
            remote[0].rates([("ETH", "USD")])

    @pytest.mark.parametrize(
        "rate",
        [
            0,
            -1,
            True,
            None,
            "",
            "x",
            "-1",
            "1e5",
            "NaN",
            float("nan"),
            float("inf"),
            10**13,
            [],
            {},
            "1" * 5000,
        ],
    )
    def test_what_is_no_believable_rate_is_absent(
        self, remote: tuple[RateProvider, str], httpserver: HTTPServer, rate: Any
    ) -> None:
        httpserver.expect_request("/simple/price").respond_with_handler(
            gecko({"ethereum": {"usd": rate, "eur": 1800}})
        )
        httpserver.expect_request("/Ticker").respond_with_handler(
            kraken({"XETHZUSD": rate, "XETHZEUR": "1800.0"})
        )
        # Coinbase says all that it has for a dollar.
        httpserver.expect_request("/exchange-rates").respond_with_json(
            {"data": {"currency": "USD", "rates": {"ETH": "0.0005", "EUR": rate}}}
        )
        left = {("ETH", "USD"): 2000} if remote[0].name == "coinbase" else {("ETH", "EUR"): 1800}
        assert remote[0].rates([("ETH", "USD"), ("ETH", "EUR")]) == left
