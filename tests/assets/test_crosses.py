"""Currencies that no source quotes a coin in are reached through dollars or euros, by the European
Central Bank's daily file; quotes that are old by their source's own word price nothing."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from structlog.testing import capture_logs
from werkzeug import Request, Response

from apps.assets import crosses, rates
from apps.assets.models import Asset, Rate
from apps.assets.providers.ecb import Ecb
from apps.assets.selectors import current_rate
from apps.chain.activation import NotReady, change_asset
from apps.core import clock
from apps.core.errors import ProviderError
from tests.assets.test_providers import gecko

PATH = "/stats/eurofxref/eurofxref-daily.xml"
PER_EURO = {"USD": "1.1111", "JPY": "166.5", "SEK": "11.385", "HKD": "8.664", "DKK": "7.4605"}


def file_of(day: date, per_euro: dict[str, str] | None = None) -> str:
    """As the bank writes it: single quotes, a Cube in a Cube in a Cube."""
    entries = "".join(
        f"\t\t\t<Cube currency='{currency}' rate='{rate}'/>\n"
        for currency, rate in (PER_EURO if per_euro is None else per_euro).items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"'
        ' xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">\n'
        "\t<gesmes:subject>Reference rates</gesmes:subject>\n"
        "\t<gesmes:Sender>\n\t\t<gesmes:name>European Central Bank</gesmes:name>\n"
        f"\t</gesmes:Sender>\n\t<Cube>\n\t\t<Cube time='{day.isoformat()}'>\n{entries}"
        "\t\t</Cube>\n\t</Cube>\n</gesmes:Envelope>"
    )


def bank(day: date, per_euro: dict[str, str] | None = None) -> Callable[[Request], Response]:
    """A stand-in of ours: a file that is read, at its one address, and nothing else."""

    def answer(request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return Response(status=405)
        return Response(file_of(day, per_euro), content_type="text/xml")

    return answer


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    crosses._kept.clear()
    yield
    crosses._kept.clear()


@pytest.fixture
def ecb(httpserver: HTTPServer) -> Ecb:
    return Ecb(httpserver.url_for(PATH), timeout_seconds=0.5)


def today() -> date:
    return clock.real_now().date()


def test_the_file_says_what_a_euro_is_on_its_day(httpserver: HTTPServer, ecb: Ecb) -> None:
    httpserver.expect_request(PATH).respond_with_handler(bank(date(2026, 11, 27)))
    told = ecb.crosses()
    assert told.day == date(2026, 11, 27)
    assert told.per_euro == {
        **{currency: Decimal(rate) for currency, rate in PER_EURO.items()},
        "EUR": 1,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "<html>maintenance</html>",
        '{"rates": {"USD": 1.1}}',
        file_of(date(2026, 11, 27)).replace("2026-11-27", "yesterday"),
        file_of(date(2026, 11, 27), {}),
        file_of(date(2026, 11, 27), {"USD": "NaN", "SEK": "-1", "JPY": "1e3"}),
        file_of(date(2026, 11, 27)).replace("<gesmes:Envelope", "<!DOCTYPE x><gesmes:Envelope"),
    ],
)
def test_what_is_no_such_file_is_a_failure(httpserver: HTTPServer, ecb: Ecb, wrong: str) -> None:
    httpserver.expect_request(PATH).respond_with_data(wrong, content_type="text/xml")
    with pytest.raises(ProviderError):
        ecb.crosses()


@pytest.mark.parametrize("status", [301, 404, 429, 503])
def test_no_file_is_a_failure(httpserver: HTTPServer, ecb: Ecb, status: int) -> None:
    httpserver.expect_request(PATH).respond_with_data("", status=status)
    with pytest.raises(ProviderError):
        ecb.crosses()


@pytest.fixture
def sources(httpserver: HTTPServer, settings: Any, db: None) -> Callable[..., None]:
    """Live mode asks CoinGecko, and the bank for what it doesn't quote; call it with what CoinGecko
    says of an ether, and the day of the bank's file (None: it is down)."""
    base = {"base_url": httpserver.url_for("")}
    settings.PROVIDERS = {
        **settings.PROVIDERS,
        "rates": {
            **settings.PROVIDERS["rates"],
            "live": [{"BACKEND": "apps.assets.providers.coingecko.CoinGecko", "OPTIONS": base}],
        },
        "crosses": {
            "live": [
                {
                    "BACKEND": "apps.assets.providers.ecb.Ecb",
                    "OPTIONS": {"url": httpserver.url_for(PATH)},
                }
            ],
            "test": [],
        },
    }
    Rate.objects.filter(asset__chain__mode="live").delete()

    def say(ether: dict[str, Any], day: date | None) -> None:
        crosses._kept.clear()
        httpserver.clear_all_handlers()
        httpserver.expect_request("/simple/price").respond_with_handler(gecko({"ethereum": ether}))
        if day is not None:
            httpserver.expect_request(PATH).respond_with_handler(bank(day))

    return say


def rate_of(currency: str) -> Rate | None:
    return current_rate("ETH", currency, clock.real_now())


def test_a_currency_that_no_source_quotes_is_reached_through_dollars(
    sources: Callable[..., None],
) -> None:
    sources({"usd": 2000, "eur": 1801}, today() - timedelta(days=3))
    rates.refresh()
    krona, euro, krone = rate_of("SEK"), rate_of("EUR"), rate_of("NOK")
    assert krona and euro and krone is None, "the file has no Norwegian krone"
    wanted = Decimal(2000) / Decimal("1.1111") * Decimal("11.385")
    assert abs(krona.rate - wanted) < Decimal("1e-10") and krona.source == "coingecko+ecb"
    assert (euro.rate, euro.source) == (1801, "coingecko")


def test_through_euros_where_dollars_are_not_quoted(sources: Callable[..., None]) -> None:
    sources({"eur": 1800}, today())
    rates.refresh()
    krona = rate_of("SEK")
    assert krona and krona.rate == 1800 * Decimal("11.385")


@pytest.mark.parametrize("days", [6, -2])
def test_a_file_of_another_time_prices_nothing(sources: Callable[..., None], days: int) -> None:
    sources({"usd": 2000}, today() - timedelta(days=days))
    with capture_logs() as logs:
        rates.refresh()
    assert rate_of("USD") and rate_of("SEK") is None
    assert [line for line in logs if line["event"] == "crosses_stale"]


def test_without_the_bank_the_other_currencies_are_priced(sources: Callable[..., None]) -> None:
    sources({"usd": 2000, "eur": 1800}, None)
    rates.refresh()
    assert rate_of("USD") and rate_of("EUR") and rate_of("SEK") is None


def test_the_bank_is_asked_once_in_a_while(
    sources: Callable[..., None], httpserver: HTTPServer
) -> None:
    sources({"usd": 2000}, today())
    rates.refresh()
    rates.refresh()
    asked = [request for request, _ in httpserver.log if request.path == PATH]
    assert len(asked) == 1


def test_a_rate_has_the_time_of_its_source_and_ends_by_it(
    sources: Callable[..., None], settings: Any
) -> None:
    told = int(clock.real_now().timestamp()) - 200
    sources({"usd": 2000, "last_updated_at": told}, today())
    rates.refresh()
    rate, krona = rate_of("USD"), rate_of("SEK")
    assert rate and krona
    assert int(rate.as_of.timestamp()) == int(krona.as_of.timestamp()) == told
    assert rate.valid_until == rate.as_of + timedelta(seconds=settings.RATE_MAX_AGE_SECONDS)


def test_a_quote_that_is_old_by_its_sources_own_word_is_refused(
    sources: Callable[..., None], settings: Any
) -> None:
    told = int(clock.real_now().timestamp()) - settings.RATE_MAX_AGE_SECONDS - 5
    sources({"usd": 2000, "last_updated_at": told}, today())
    with capture_logs() as logs:
        rates.refresh()
    assert rate_of("USD") is None and rate_of("SEK") is None
    [line] = [line for line in logs if line["event"] == "rates_stale"]
    assert line["pairs"] == ["ETH-USD"]


def test_a_time_that_is_yet_to_come_is_now(sources: Callable[..., None]) -> None:
    sources({"usd": 2000, "last_updated_at": int(clock.real_now().timestamp()) + 9000}, today())
    rates.refresh()
    rate = rate_of("USD")
    assert rate and rate.as_of <= clock.real_now()


def test_a_stablecoin_that_lost_its_peg_is_priced_as_it_is(
    sources: Callable[..., None], httpserver: HTTPServer
) -> None:
    for dollars in ("0.9998", "0.88", "0.61"):
        sources({"usd": 2000}, today())
        httpserver.clear_all_handlers()
        httpserver.expect_request("/simple/price").respond_with_handler(
            gecko({"usd-coin": {"usd": float(dollars)}})
        )
        rates.refresh()
        for asset_id in ("ETH_USDC", "TEMPO_USDC", "TEMPO_PATH"):
            rate = current_rate(asset_id, "USD", clock.real_now())
            assert rate and rate.rate == Decimal(dollars), asset_id


def test_a_coin_that_no_source_knows_and_nobody_redeems_has_no_rate(
    sources: Callable[..., None],
) -> None:
    sources({"usd": 2000}, today())
    Asset.objects.filter(pk="TEMPO_PATH").update(coin_symbol="xUSD")
    rates.refresh()
    assert current_rate("TEMPO_PATH", "USD", clock.real_now()) is None
    with pytest.raises(NotReady, match="no rate of xUSD"):
        change_asset("TEMPO_PATH", is_active=True)
