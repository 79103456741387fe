"""CoinGecko's coins/markets. A ticker is looked up in a list of ours, so that a question never
reaches another path."""

import re
from decimal import Decimal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, ValidationError

from apps.agents.providers.base import MarketFigures, ProviderError, TokenUnknown, UpstreamThrottled
from apps.core.errors import ErrorCode
from apps.core.outbound.net import get_json

# Tickers that several coins claim mean the well-known one.
TICKERS = {
    "ETH": "ethereum",
    "BTC": "bitcoin",
    "USDC": "usd-coin",
    "USDT": "tether",
    "POL": "polygon-ecosystem-token",
    "DAI": "dai",
    "SOL": "solana",
    "BNB": "binancecoin",
    "XRP": "ripple",
    "ADA": "cardano",
    "DOGE": "dogecoin",
    "LTC": "litecoin",
    "LINK": "chainlink",
    "UNI": "uniswap",
    "ARB": "arbitrum",
    "OP": "optimism",
    "AVAX": "avalanche-2",
    "DOT": "polkadot",
}
PRO_HOST = "pro-api.coingecko.com"
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}", re.ASCII)
_CURRENCY = re.compile(r"[a-z]{3,5}", re.ASCII)


class MarketRow(Struct, frozen=True):
    """A row of the answer, as far as it is passed on."""

    id: str
    current_price: int | Decimal
    market_cap: int | Decimal | None = None
    total_volume: int | Decimal | None = None
    price_change_percentage_24h: int | Decimal | None = None


class CoinGeckoMarkets:
    name = "coingecko"

    def __init__(self, base_url: str, api_key: str = "", timeout_seconds: float = 5.0) -> None:
        self.url = f"{base_url.rstrip('/')}/coins/markets"
        plan = "pro" if urlsplit(base_url).hostname == PRO_HOST else "demo"
        self.headers = {f"x-cg-{plan}-api-key": api_key} if api_key else {}
        self.timeout_seconds = timeout_seconds

    def figures(self, symbol_or_id: str, currency: str) -> MarketFigures:
        coin_id = TICKERS.get(symbol_or_id.upper(), symbol_or_id)
        if not _ID.fullmatch(coin_id) or not _CURRENCY.fullmatch(currency):
            raise TokenUnknown
        try:
            answer = get_json(
                self.url,
                {"ids": coin_id, "vs_currency": currency},
                self.headers,
                self.timeout_seconds,
            )
        except ProviderError as error:
            if error.code is ErrorCode.THROTTLED:
                raise UpstreamThrottled from None
            raise
        try:
            coins = msgspec.convert(answer, list[MarketRow])
        except ValidationError:
            raise ProviderError(ErrorCode.MALFORMED, "not the documented answer") from None
        coin = next((coin for coin in coins if coin.id == coin_id), None)
        if coin is None:
            raise TokenUnknown
        return MarketFigures(
            coin_id,
            coin.current_price,
            coin.market_cap,
            coin.total_volume,
            coin.price_change_percentage_24h,
        )
