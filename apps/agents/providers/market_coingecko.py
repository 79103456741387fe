"""CoinGecko's coins/markets. A ticker is looked up in a list of ours, so that a question never reaches another path."""

import re
from urllib.parse import urlsplit

from apps.agents.providers.base import MarketFigures, ProviderError, TokenUnknown, UpstreamThrottled
from apps.core.errors import ErrorCode
from apps.core.net import get_json

# Tickers that several coins claim mean the well-known one.
TICKERS = {
    "ETH": "ethereum", "BTC": "bitcoin", "USDC": "usd-coin", "USDT": "tether", "POL": "polygon-ecosystem-token", "DAI": "dai",
    "SOL": "solana", "BNB": "binancecoin", "XRP": "ripple", "ADA": "cardano", "DOGE": "dogecoin", "LTC": "litecoin",
    "LINK": "chainlink", "UNI": "uniswap", "ARB": "arbitrum", "OP": "optimism", "AVAX": "avalanche-2", "DOT": "polkadot",
}  # fmt: skip
PRO_HOST = "pro-api.coingecko.com"
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,99}", re.ASCII)
_CURRENCY = re.compile(r"[a-z]{3,5}", re.ASCII)


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
            answer = get_json(self.url, {"ids": coin_id, "vs_currency": currency}, self.headers, self.timeout_seconds)
        except ProviderError as error:
            if error.code is ErrorCode.THROTTLED:
                raise UpstreamThrottled from None
            raise
        if not isinstance(answer, list):
            raise ProviderError(ErrorCode.MALFORMED, "not the documented answer")
        row = next((one for one in answer if isinstance(one, dict) and one.get("id") == coin_id), None)
        if row is None:
            raise TokenUnknown
        return MarketFigures(
            coin_id, row.get("current_price"), row.get("market_cap"), row.get("total_volume"), row.get("price_change_percentage_24h")
        )
