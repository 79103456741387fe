"""Keeping rates fresh: the first provider that answers prices, a rate that jumps needs a second
opinion, an old one prices nothing.

What coins are worth in dollars every provider is asked: what the service swaps at must be agreed,
or at least not in doubt.
"""

import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple, cast

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from apps.assets import crosses
from apps.assets.models import FAR_FUTURE, Asset, DailyRate, Rate
from apps.assets.networks import priced_as
from apps.assets.providers.base import Pair, RateProvider, SourceQuote
from apps.core import clock
from apps.core.errors import ProviderError
from apps.core.models import Mode
from apps.core.money import RATE_MAX, RATE_MIN, is_rate_agreed, is_rate_near
from apps.stores.models import Currency

log = structlog.get_logger(__name__)
# A rate that was fetched longer ago than this says nothing about whether a new one jumped.
MEMORY = timedelta(days=1)
# The currency in which every source is asked, and compared with the others.
COMPARED = Currency.USD.value
# Sources of which none has answered are left alone so long: who waits for them would wait for each
# of their timeouts.
PAUSE_SECONDS = 15.0
STALE_NAMED_MAX = 20
_paused_until = 0.0


class Quote(NamedTuple):
    """`at` is the source's own time, None where it tells none; `cross` the source of the way from
    another currency."""

    rate: Decimal
    provider: RateProvider
    is_agreed: bool = False
    is_doubted: bool = False
    at: datetime | None = None
    cross: str = ""

    @property
    def source(self) -> str:
        return f"{self.provider.name}+{self.cross}" if self.cross else self.provider.name


def providers(mode: str) -> list[RateProvider]:
    """The adapters of a mode, in the order in which they are asked."""
    return [
        cast(RateProvider, import_string(provider["BACKEND"])(**provider["OPTIONS"]))
        for provider in settings.PROVIDERS["rates"][mode]
    ]


def refresh() -> int:
    """Ask for every known asset in every currency and keep what is believable; how many rates were
    written."""
    at = clock.real_now()
    return sum(_refresh_mode(mode, at) for mode in Mode.values)


def ask_again(assets: Sequence[Asset]) -> None:
    """Ask all sources what coins of one mode are worth in dollars at this moment. Not inside a
    transaction; never fails."""
    global _paused_until
    if time.monotonic() < _paused_until:
        return
    if not _write(assets[0].mode, assets, (COMPARED,), clock.real_now()):
        _paused_until = time.monotonic() + PAUSE_SECONDS


def _refresh_mode(mode: str, at: datetime) -> int:
    return _write(mode, list(Asset.objects.filter(chain__mode=mode)), Currency.values, at)


def _write(mode: str, assets: Sequence[Asset], currencies: Sequence[str], at: datetime) -> int:
    quotes = _quotes(
        mode,
        {(priced_as(asset.coin_symbol), currency) for asset in assets for currency in currencies},
        _last(assets, at),
        at,
    )
    doubted = dict(
        Rate.objects.filter(asset__in=assets, currency=COMPARED).values_list(
            "asset_id", "doubted_at"
        )
    )
    rows = [
        Rate(
            asset=asset,
            currency=currency,
            rate=quote.rate,
            source=quote.source,
            as_of=quote.at or at,
            valid_until=_valid_until(quote, at),
            is_agreed=quote.is_agreed,
            doubted_at=at
            if quote.is_doubted
            else None
            if quote.is_agreed or currency != COMPARED
            else doubted.get(asset.pk),
        )
        for asset in assets
        for currency in currencies
        if (quote := quotes.get((priced_as(asset.coin_symbol), currency))) is not None
    ]
    Rate.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["asset", "currency"],
        update_fields=["rate", "source", "as_of", "valid_until", "is_agreed", "doubted_at"],
    )
    _keep_first_of_day(rows, at)
    return len(rows)


def _keep_first_of_day(rows: list[Rate], at: datetime) -> None:
    """Books are valued by the first rate that a day knew; it is never changed."""
    existing = set(DailyRate.objects.filter(day=at.date()).values_list("asset_id", "currency"))
    DailyRate.objects.bulk_create(
        [
            DailyRate(
                asset_id=row.asset_id,
                currency=row.currency,
                day=at.date(),
                rate=row.rate,
                source=row.source,
                as_of=at,
            )
            for row in rows
            if (row.asset_id, row.currency) not in existing
        ],
        ignore_conflicts=True,
    )


def _last(assets: Iterable[Asset], at: datetime) -> dict[Pair, Decimal]:
    """Last price of each coin; fixed rates don't count."""
    rows = Rate.objects.filter(
        asset__in=assets, as_of__gt=at - MEMORY, valid_until__lt=FAR_FUTURE
    ).order_by("as_of")
    return {
        (priced_as(coin), currency): rate
        for coin, currency, rate in rows.values_list("asset__coin_symbol", "currency", "rate")
    }


def _quotes(
    mode: str, pairs: set[Pair], last: dict[Pair, Decimal], at: datetime
) -> dict[Pair, Quote]:
    """The first believable rate of each pair. A later provider is asked only for what is missing,
    in doubt or to be compared; where two of them agree against the first, theirs is the rate."""
    quotes: dict[Pair, Quote] = {}
    jumped: dict[Pair, list[Decimal]] = {}
    outvoting: dict[Pair, list[Decimal]] = {}
    for provider in providers(mode):
        compared = {
            pair
            for pair, quote in quotes.items()
            if _is_compared(pair, quote) and not quote.is_agreed
        }
        requested_pairs = (pairs - quotes.keys()) | compared
        if not requested_pairs:
            break
        for pair, (rate, told_at) in _answer(provider, requested_pairs, at).items():
            other_rates = [quotes[pair].rate] if pair in compared else jumped.get(pair, [])
            is_agreed = any(is_rate_agreed(rate, other) for other in other_rates)
            if pair in compared and not is_agreed:
                others = outvoting.setdefault(pair, [])
                if any(is_rate_agreed(rate, other) for other in others):
                    quotes[pair] = Quote(rate, provider, is_agreed=True, at=told_at)
                else:
                    quotes[pair] = quotes[pair]._replace(is_doubted=True)
                others.append(rate)
            elif pair in compared:
                quotes[pair] = quotes[pair]._replace(is_agreed=True, is_doubted=False)
            elif (
                pair not in last
                or is_rate_near(rate, last[pair])
                or any(is_rate_near(rate, other) for other in other_rates)
            ):
                is_doubted = bool(other_rates) and not is_agreed
                quotes[pair] = Quote(rate, provider, is_agreed, is_doubted, told_at)
            else:
                jumped.setdefault(pair, []).append(rate)
    for pair, quote in _crossed(mode, pairs - quotes.keys() - jumped.keys(), quotes, at).items():
        if pair not in last or is_rate_near(quote.rate, last[pair]):
            quotes[pair] = quote
        else:
            jumped[pair] = [quote.rate]
    for coin, currency in sorted(jumped.keys() - quotes.keys()):
        log.error("rate_jumped", coin=coin, currency=currency)
    return {pair: _judged(pair, quote, last) for pair, quote in quotes.items()}


def _is_compared(pair: Pair, quote: Quote) -> bool:
    return pair[1] == COMPARED and not quote.provider.is_always_current


def _judged(pair: Pair, quote: Quote, last: dict[Pair, Decimal]) -> Quote:
    """A single source that tells something else than a moment ago is in doubt, as are two that
    contradict each other."""
    if not _is_compared(pair, quote) or quote.is_agreed:
        return quote
    if quote.is_doubted or (pair in last and not is_rate_agreed(quote.rate, last[pair])):
        log.error("rate_in_doubt", coin=pair[0], currency=pair[1], source=quote.provider.name)
        return quote._replace(is_doubted=True)
    return quote


def _crossed(
    mode: str, missing: set[Pair], quotes: dict[Pair, Quote], at: datetime
) -> dict[Pair, Quote]:
    """Pairs that no source quotes, from what their coins are in dollars or euros."""
    ways = {
        (coin, wanted): (currency, quotes[coin, currency])
        for coin, wanted in missing
        for currency in reversed(crosses.THROUGH)
        if (coin, currency) in quotes
    }
    source = crosses.source_of(mode) if ways else None
    if source is None:
        return {}
    per_euro = crosses.crosses_of(source, at.date())
    return {
        pair: quote._replace(rate=rate, is_agreed=False, is_doubted=False, cross=source.name)
        for pair, (currency, quote) in ways.items()
        if (rate := crosses.through(quote.rate, currency, pair[1], per_euro)) is not None
    }


def _answer(provider: RateProvider, pairs: set[Pair], at: datetime) -> dict[Pair, SourceQuote]:
    """Quotes of a source, without those that are no rate or too old by its own word."""
    try:
        quotes = provider.quotes(sorted(pairs))
    except ProviderError as error:
        log.warning("rates_unavailable", provider=provider.name, error=str(error))
        return {}
    oldest = at - timedelta(seconds=settings.RATE_MAX_AGE_SECONDS)
    stale = sorted(pair for pair, (_, told) in quotes.items() if told is not None and told < oldest)
    if stale:
        names = [f"{coin}-{currency}" for coin, currency in stale]
        log.warning("rates_stale", provider=provider.name, pairs=names[:STALE_NAMED_MAX])
    return {
        pair: SourceQuote(rate, None if told is None else min(told, at))
        for pair, (rate, told) in quotes.items()
        if pair in pairs and pair not in stale and RATE_MIN <= rate <= RATE_MAX
    }


def _valid_until(quote: Quote, at: datetime) -> datetime:
    return (
        FAR_FUTURE
        if quote.provider.is_always_current
        else (quote.at or at) + timedelta(seconds=settings.RATE_MAX_AGE_SECONDS)
    )
