"""Interfaces of sources of exchange rates: of coins, and of currencies among themselves."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple, Protocol

Pair = tuple[str, str]  # coin symbol, currency


class SourceQuote(NamedTuple):
    """A rate, and when its source says that it was that; None where it doesn't say."""

    rate: Decimal
    at: datetime | None = None


class Crosses(NamedTuple):
    """Prices of a euro in other currencies on a day."""

    day: date
    per_euro: Mapping[str, Decimal]


class RateProvider(Protocol):
    """Rates are fiat per coin. A pair that the source doesn't quote is absent; ProviderError when
    the source fails."""

    name: str
    is_always_current: bool

    def rates(self, pairs: Iterable[Pair]) -> dict[Pair, Decimal]: ...

    def quotes(self, pairs: Iterable[Pair]) -> dict[Pair, SourceQuote]: ...


class CrossProvider(Protocol):
    """Raises ProviderError when the source fails."""

    name: str

    def crosses(self) -> Crosses: ...


def untimed(rates: Mapping[Pair, Decimal]) -> dict[Pair, SourceQuote]:
    """Quotes of a source that tells no time."""
    return {pair: SourceQuote(rate) for pair, rate in rates.items()}
