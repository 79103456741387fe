"""Kraken's ticker: the last trade of each pair. A currency it doesn't trade a coin in is reached
through US dollars, if it trades that currency for dollars; what can't be reached is absent.

Kraken refuses a question as a whole for one pair that it doesn't trade: the pairs are then asked
for in halves, and what it refuses alone is left out from then on.
"""

from collections.abc import Iterable
from decimal import Decimal

import structlog

from apps.assets.providers.base import Pair, SourceQuote, untimed
from apps.core.errors import ErrorCode, ProviderError
from apps.core.money import rate_inverted, rate_through, read_rate
from apps.core.outbound.net import get_json

# What is asked for -> what Kraken calls it in the answer: old assets carry X (coins) and Z (fiat)
# in front.
COINS = {
    ("ETH", "USD"): ("ETHUSD", "XETHZUSD"),
    ("ETH", "EUR"): ("ETHEUR", "XETHZEUR"),
    ("ETH", "GBP"): ("ETHGBP", "XETHZGBP"),
    ("ETH", "JPY"): ("ETHJPY", "XETHZJPY"),
    ("ETH", "CHF"): ("ETHCHF", "ETHCHF"),
    ("USDC", "USD"): ("USDCUSD", "USDCUSD"),
    ("USDC", "EUR"): ("USDCEUR", "USDCEUR"),
    ("USDT", "USD"): ("USDTUSD", "USDTZUSD"),
    ("USDT", "EUR"): ("USDTEUR", "USDTEUR"),
    ("POL", "USD"): ("POLUSD", "POLUSD"),
    ("POL", "EUR"): ("POLEUR", "POLEUR"),
    # Kraken calls Bitcoin XBT.
    ("BTC", "USD"): ("XBTUSD", "XXBTZUSD"),
    ("BTC", "EUR"): ("XBTEUR", "XXBTZEUR"),
    ("BTC", "GBP"): ("XBTGBP", "XXBTZGBP"),
    ("BTC", "JPY"): ("XBTJPY", "XXBTZJPY"),
    ("LTC", "USD"): ("LTCUSD", "XLTCZUSD"),
    ("LTC", "EUR"): ("LTCEUR", "XLTCZEUR"),
    ("AVAX", "USD"): ("AVAXUSD", "AVAXUSD"),
    ("AVAX", "EUR"): ("AVAXEUR", "AVAXEUR"),
    ("EURC", "USD"): ("EURCUSD", "EURCUSD"),
    ("EURC", "EUR"): ("EURCEUR", "EURCEUR"),
}
# Currency -> the pair that crosses it with the dollar, and whether the dollar is the quoted side.
CROSSES = {
    "EUR": ("EURUSD", "ZEURZUSD", True),
    "GBP": ("GBPUSD", "ZGBPZUSD", True),
    "JPY": ("USDJPY", "ZUSDZJPY", False),
    "CHF": ("USDCHF", "USDCHF", False),
}


_UNTRADED = "EQuery:Unknown asset pair"
log = structlog.get_logger(__name__)
# By address the pairs that were refused there, for as long as the process runs.
_untraded: dict[str, set[str]] = {}


class _PairRefused(Exception):
    """It doesn't trade one of the pairs."""


class Kraken:
    name = "kraken"
    is_always_current = False

    def __init__(self, base_url: str, timeout_seconds: float = 10.0) -> None:
        self.url = f"{base_url.rstrip('/')}/Ticker"
        self.timeout_seconds = timeout_seconds
        self._untraded = _untraded.setdefault(self.url, set())

    def quotes(self, pairs: Iterable[Pair]) -> dict[Pair, SourceQuote]:
        return untimed(self.rates(pairs))

    def rates(self, pairs: Iterable[Pair]) -> dict[Pair, Decimal]:
        """Rates of all pairs by a single call. Raises ProviderError."""
        offered_pairs = [
            pair
            for pair in pairs
            if pair in COINS or ((pair[0], "USD") in COINS and pair[1] in CROSSES)
        ]
        if not offered_pairs:
            return {}
        last = self._last_trades({name for pair in offered_pairs for name in _asked_for(pair)})
        rates = {pair: _rate(pair, last) for pair in offered_pairs}
        return {pair: rate for pair, rate in rates.items() if rate is not None}

    def _last_trades(self, names: set[str]) -> dict[str, Decimal]:
        """By what Kraken calls them in its answer."""
        asked = sorted(names - self._untraded)
        if not asked:
            return {}
        try:
            return self._ask(asked)
        except _PairRefused:
            if len(asked) == 1:
                self._untraded.update(asked)
                log.warning("rate_pair_untraded", provider=self.name, pair=asked[0])
                return {}
        half = len(asked) // 2
        return self._last_trades(set(asked[:half])) | self._last_trades(set(asked[half:]))

    def _ask(self, names: list[str]) -> dict[str, Decimal]:
        answer = get_json(self.url, {"pair": ",".join(names)}, timeout=self.timeout_seconds)
        if isinstance(answer, dict) and answer.get("error") == [_UNTRADED]:
            raise _PairRefused
        if (
            not isinstance(answer, dict)
            or answer.get("error")
            or not isinstance(answer.get("result"), dict)
        ):
            raise ProviderError(ErrorCode.MALFORMED, "not the documented answer")
        closed = {
            name: read_rate(ticker["c"][0])
            for name, ticker in answer["result"].items()
            if isinstance(ticker, dict) and isinstance(ticker.get("c"), list) and ticker["c"]
        }
        return {name: rate for name, rate in closed.items() if rate is not None}


def _asked_for(pair: Pair) -> list[str]:
    if pair in COINS:
        return [COINS[pair][0]]
    return [COINS[pair[0], "USD"][0], CROSSES[pair[1]][0]]


def _rate(pair: Pair, last: dict[str, Decimal]) -> Decimal | None:
    if pair in COINS:
        return last.get(COINS[pair][1])
    _, name, is_dollar_quoted = CROSSES[pair[1]]
    dollars = last.get(COINS[pair[0], "USD"][1])
    cross = last.get(name)
    if dollars is None or cross is None:
        return None
    return rate_through(dollars, rate_inverted(cross) if is_dollar_quoted else cross)
