"""Interface of a source of exchange rates."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Protocol

Pair = tuple[str, str]  # coin symbol, currency


class RateProvider(Protocol):
    """Rates are fiat per coin. A pair that the source doesn't quote is absent; ProviderError when
    the source fails."""

    name: str
    is_always_current: bool

    def rates(self, pairs: Iterable[Pair]) -> dict[Pair, Decimal]: ...
