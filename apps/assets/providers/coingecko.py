"""CoinGecko's simple price. With a key the header follows the plan that the address represents."""

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from urllib.parse import urlsplit

from apps.assets.providers.base import Pair, SourceQuote
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
_SECONDS_MAX = 2**33
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
        """Raises ProviderError."""
        return {pair: quote.rate for pair, quote in self.quotes(pairs).items()}

    def quotes(self, pairs: Iterable[Pair]) -> dict[Pair, SourceQuote]:
        """All pairs by a single call, with the time of each coin's last update. Raises
        ProviderError."""
        offered_pairs = [(coin, currency) for coin, currency in pairs if coin in COINS]
        if not offered_pairs:
            return {}
        params = {
            "ids": ",".join(sorted({COINS[coin] for coin, _ in offered_pairs})),
            "vs_currencies": ",".join(sorted({currency.lower() for _, currency in offered_pairs})),
            "precision": "full",
            "include_last_updated_at": "true",
        }
        answer = get_json(self.url, params, self.headers, self.timeout_seconds)
        if not isinstance(answer, dict):
            raise ProviderError(ErrorCode.MALFORMED, "not the documented answer")
        quotes = {
            (coin, currency): _quote(answer, COINS[coin], currency.lower())
            for coin, currency in offered_pairs
        }
        return {pair: quote for pair, quote in quotes.items() if quote is not None}


def _quote(answer: dict[str, object], coin: str, currency: str) -> SourceQuote | None:
    quotes = answer.get(coin)
    if not isinstance(quotes, dict):
        return None
    rate = read_rate(quotes.get(currency))
    return SourceQuote(rate, _moment(quotes.get("last_updated_at"))) if rate is not None else None


def _moment(seconds: object) -> datetime | None:
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not 0 < seconds < _SECONDS_MAX:
        return None
    return datetime.fromtimestamp(seconds, UTC)
