"""CoinGecko's simple price. With a key the header follows the plan that the address stands for."""

from collections.abc import Iterable
from decimal import Decimal
from urllib.parse import urlsplit

from apps.assets.providers.base import Pair
from apps.core.errors import ErrorCode, ProviderError
from apps.core.money import read_rate
from apps.core.outbound.net import get_json

COINS = {
    "ETH": "ethereum",
    "USDC": "usd-coin",
    "USDT": "tether",
    "POL": "polygon-ecosystem-token",
    "BTC": "bitcoin",
    "LTC": "litecoin",
    "AVAX": "avalanche-2",
    "EURC": "euro-coin",
}
PRO_HOST = "pro-api.coingecko.com"


class CoinGecko:
    name = "coingecko"
    is_always_current = False

    def __init__(self, base_url: str, api_key: str = "", timeout_seconds: float = 10.0) -> None:
        self.url = f"{base_url.rstrip('/')}/simple/price"
        plan = "pro" if urlsplit(base_url).hostname == PRO_HOST else "demo"
        self.headers = {f"x-cg-{plan}-api-key": api_key} if api_key else {}
        self.timeout_seconds = timeout_seconds

    def rates(self, pairs: Iterable[Pair]) -> dict[Pair, Decimal]:
        """Rates of all pairs by a single call. Raises ProviderError."""
        offered_pairs = [(coin, currency) for coin, currency in pairs if coin in COINS]
        if not offered_pairs:
            return {}
        params = {
            "ids": ",".join(sorted({COINS[coin] for coin, _ in offered_pairs})),
            "vs_currencies": ",".join(sorted({currency.lower() for _, currency in offered_pairs})),
            "precision": "full",
        }
        answer = get_json(self.url, params, self.headers, self.timeout_seconds)
        if not isinstance(answer, dict):
            raise ProviderError(ErrorCode.MALFORMED, "not the documented answer")
        rates = {
            (coin, currency): _quote(answer, COINS[coin], currency.lower())
            for coin, currency in offered_pairs
        }
        return {pair: rate for pair, rate in rates.items() if rate is not None}


def _quote(answer: dict[str, object], coin: str, currency: str) -> Decimal | None:
    quotes = answer.get(coin)
    return read_rate(quotes.get(currency)) if isinstance(quotes, dict) else None
