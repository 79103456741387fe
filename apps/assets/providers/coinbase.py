"""Coinbase's exchange rates: what a dollar is in every other coin and currency, by one question.

USDC isn't asked for: Coinbase counts it as a dollar whatever it is traded at, so its word says
nothing about a peg that is lost.
"""

from collections.abc import Iterable
from decimal import Decimal

from apps.assets.providers.base import Pair, SourceQuote, untimed
from apps.core.errors import ErrorCode, ProviderError
from apps.core.money import rate_inverted, rate_through, read_rate
from apps.core.outbound.net import get_json

COINS = frozenset({"ETH", "USDT", "POL", "BTC", "LTC", "AVAX", "EURC"})
DOLLAR = "USD"


class Coinbase:
    name = "coinbase"
    is_always_current = False

    def __init__(self, base_url: str, timeout_seconds: float = 10.0) -> None:
        self.url = f"{base_url.rstrip('/')}/exchange-rates"
        self.timeout_seconds = timeout_seconds

    def quotes(self, pairs: Iterable[Pair]) -> dict[Pair, SourceQuote]:
        return untimed(self.rates(pairs))

    def rates(self, pairs: Iterable[Pair]) -> dict[Pair, Decimal]:
        """Rates of all pairs by a single call. Raises ProviderError."""
        offered_pairs = [(coin, currency) for coin, currency in pairs if coin in COINS]
        if not offered_pairs:
            return {}
        answer = get_json(self.url, {"currency": DOLLAR}, timeout=self.timeout_seconds)
        per_dollar = _per_dollar(answer)
        rates = {pair: _rate(pair, per_dollar) for pair in offered_pairs}
        return {pair: rate for pair, rate in rates.items() if rate is not None}


def _per_dollar(answer: object) -> dict[str, object]:
    data = answer.get("data") if isinstance(answer, dict) else None
    rates = data.get("rates") if isinstance(data, dict) and data.get("currency") == DOLLAR else None
    if not isinstance(rates, dict):
        raise ProviderError(ErrorCode.MALFORMED, "not the documented answer")
    return rates


def _rate(pair: Pair, per_dollar: dict[str, object]) -> Decimal | None:
    coin, currency = (read_rate(per_dollar.get(symbol)) for symbol in pair)
    if pair[1] == DOLLAR:
        currency = Decimal(1)
    if coin is None or currency is None:
        return None
    return rate_through(rate_inverted(coin), currency)
