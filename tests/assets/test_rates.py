from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from apps.assets import rates
from apps.assets.models import Rate
from apps.assets.providers.fixed import ETHER
from apps.assets.selectors import current_rate
from apps.core import clock
from apps.payments.services.pricing import accepted_priced
from apps.stores.models import Currency
from tests.assets.test_providers import KRAKEN_TRADES, gecko, kraken
from tests.cast import Shop

pytestmark = pytest.mark.django_db
Answer = Callable[[str, str], None]


@pytest.fixture
def sources(httpserver: HTTPServer, settings: Any) -> Callable[..., None]:
    """Live mode asks CoinGecko, then Kraken, of ours; call it with what each says an ether costs
    (None: it is down)."""
    options = {"base_url": httpserver.url_for("")}
    names = ("apps.assets.providers.coingecko.CoinGecko", "apps.assets.providers.kraken.Kraken")
    live = [{"BACKEND": name, "OPTIONS": options} for name in names]
    settings.PROVIDERS = {
        **settings.PROVIDERS,
        "rates": {**settings.PROVIDERS["rates"], "live": live},
    }
    Rate.objects.filter(asset__chain__mode="live").delete()

    def say(coingecko: Any = None, kraken_says: Any = None) -> None:
        httpserver.clear_all_handlers()
        if coingecko is not None:
            httpserver.expect_request("/simple/price").respond_with_handler(
                gecko({"ethereum": {"usd": coingecko}})
            )
        if kraken_says is not None:
            httpserver.expect_request("/Ticker").respond_with_handler(
                kraken({**KRAKEN_TRADES, "XETHZUSD": kraken_says})
            )

    return say


def ether() -> Rate | None:
    return current_rate("ETH", "USD", clock.real_now())


def test_every_asset_has_a_rate_in_every_currency_after_a_first_refresh() -> None:
    Rate.objects.all().delete()
    rates.refresh()
    assert {rate.currency for rate in Rate.objects.filter(asset="SETH")} == set(Currency.values)
    assert {(rate.currency, rate.rate) for rate in Rate.objects.filter(asset="SETH")} == set(
        ETHER.items()
    )
    assert {rate.rate for rate in Rate.objects.filter(asset="ETH_USDC", currency="USD")} == {
        Decimal(1)
    }


def test_fixed_rates_never_grow_old() -> None:
    assert current_rate("SETH", "USD", clock.real_now() + timedelta(days=365)) is not None


def test_the_first_source_prices_and_the_second_fills_what_is_missing(
    sources: Callable[..., None],
) -> None:
    sources(2000, "2001")
    rates.refresh()
    found = ether()
    assert found and (found.rate, found.source) == (2000, "coingecko")
    filled = current_rate("ETH", "EUR", clock.real_now())
    assert filled and (filled.rate, filled.source) == (Decimal("1800.5"), "kraken")


def test_the_second_source_prices_when_the_first_is_down(sources: Callable[..., None]) -> None:
    sources(None, "2001")
    rates.refresh()
    found = ether()
    assert found and (found.rate, found.source) == (2001, "kraken")


def test_a_rate_past_its_time_prices_nothing(
    sources: Callable[..., None], bakery: Shop, settings: Any
) -> None:
    sources(2000)
    rates.refresh()
    at = clock.real_now()
    assert "ETH" in [item.asset.pk for item in accepted_priced(bakery.store.pk, "live", "USD", at)]
    later = at + timedelta(seconds=settings.RATE_MAX_AGE_SECONDS + 1)
    assert accepted_priced(bakery.store.pk, "live", "USD", later) == []


def test_a_dead_source_leaves_the_last_rate_until_it_runs_out(sources: Callable[..., None]) -> None:
    sources(2000)
    rates.refresh()
    first = ether()
    sources()
    assert rates.refresh() == rates._refresh_mode("test", clock.real_now())
    last = ether()
    assert first and last and first.valid_until == last.valid_until


@pytest.mark.parametrize("jumped", ["2000000000000", "3001", "999"])
def test_a_jump_is_refused_without_a_second_opinion(
    sources: Callable[..., None], jumped: str
) -> None:
    sources(2000)
    rates.refresh()
    sources(int(jumped))
    rates.refresh()
    found = ether()
    assert found and found.rate == 2000


def test_a_jump_holds_when_the_second_source_agrees(sources: Callable[..., None]) -> None:
    sources(2000, "2000")
    rates.refresh()
    sources(900, "905")
    rates.refresh()
    found = ether()
    assert found and found.rate == 905


def test_the_second_source_prices_when_only_the_first_jumped(sources: Callable[..., None]) -> None:
    sources(2000, "2000")
    rates.refresh()
    sources(20000, "2010")
    rates.refresh()
    found = ether()
    assert found and (found.rate, found.source) == (2010, "kraken")


def test_a_jump_is_still_refused_after_the_last_rate_ran_out(sources: Callable[..., None]) -> None:
    sources(2000)
    rates.refresh()
    Rate.objects.filter(asset="ETH").update(valid_until=clock.real_now())
    sources(20000)
    rates.refresh()
    assert ether() is None


@pytest.mark.parametrize("wrong", [0, -2000, "abc"])
def test_what_is_no_rate_is_never_written(sources: Callable[..., None], wrong: Any) -> None:
    sources(wrong)
    rates.refresh()
    assert ether() is None


class TestThreeSources:
    @pytest.fixture
    def third(self, sources: Callable[..., None], settings: Any, httpserver: HTTPServer) -> Any:
        """Coinbase beside the other two; call it with what each says."""
        options = {"base_url": httpserver.url_for("")}
        coinbase = {"BACKEND": "apps.assets.providers.coinbase.Coinbase", "OPTIONS": options}
        settings.PROVIDERS["rates"]["live"].append(coinbase)

        def say(first: Any, second: Any, dollar_buys: str) -> None:
            sources(first, second)
            told = {"data": {"currency": "USD", "rates": {"ETH": dollar_buys}}}
            httpserver.expect_request("/exchange-rates").respond_with_json(told)

        return say

    @pytest.mark.parametrize(
        ("said", "rate", "source", "is_agreed"),
        [
            ((2000, "2001", "0.00025"), 2000, "coingecko", True),  # a third isn't asked
            ((2000, "2500", "0.0005"), 2000, "coingecko", True),
            ((2500, "2000", "0.0005"), 2000, "coinbase", True),
            ((2500, "2000", "0.0004"), 2500, "coingecko", True),
            ((2500, "2000", "0.001"), 2500, "coingecko", False),
        ],
    )
    def test_two_that_agree_outvote_the_other_and_three_opinions_are_a_doubt(
        self, third: Any, said: tuple[Any, ...], rate: int, source: str, is_agreed: bool
    ) -> None:
        third(*said)
        rates.refresh()
        found = ether()
        assert found and (found.rate, found.source) == (rate, source)
        assert (found.is_agreed, found.doubted_at is None) == (is_agreed, is_agreed)
