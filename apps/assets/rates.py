"""Keeping rates fresh: the first provider that answers prices, a rate that jumps needs a second opinion, an old one prices nothing."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple, cast

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from apps.assets.models import Asset, DailyRate, Rate
from apps.assets.providers.base import Pair, RateProvider
from apps.core import clock
from apps.core.errors import ProviderError
from apps.core.models import Mode
from apps.core.money import RATE_MAX, RATE_MIN, is_rate_near
from apps.stores.models import Currency

log = structlog.get_logger(__name__)
FAR_FUTURE = datetime(9999, 1, 1, tzinfo=UTC)
# A rate that was fetched longer ago than this says nothing about whether a new one jumped.
MEMORY = timedelta(days=1)


class Quote(NamedTuple):
    rate: Decimal
    provider: RateProvider


def providers(mode: str) -> list[RateProvider]:
    """The adapters of a mode, in the order in which they are asked."""
    return [cast(RateProvider, import_string(one["BACKEND"])(**one["OPTIONS"])) for one in settings.PROVIDERS["rates"][mode]]


def ensure_rates() -> None:
    """Ask at once where a mode has no rate that prices: a fresh database shouldn't wait for the periodic job."""
    at = clock.real_now()
    for mode in Mode.values:
        if not Rate.objects.filter(asset__chain__mode=mode, valid_until__gt=at).exists():
            _refresh_mode(mode, at)


def refresh() -> int:
    """Ask for every known asset in every currency and keep what is believable; how many rates were written."""
    at = clock.real_now()
    return sum(_refresh_mode(mode, at) for mode in Mode.values)


def _refresh_mode(mode: str, at: datetime) -> int:
    assets = list(Asset.objects.filter(chain__mode=mode))
    quotes = _quotes(mode, {(asset.coin_symbol, currency) for asset in assets for currency in Currency.values}, _last(assets, at))
    rows = [
        Rate(asset=asset, currency=currency, rate=quote.rate, source=quote.provider.name, as_of=at, valid_until=_valid_until(quote, at))
        for asset in assets
        for currency in Currency.values
        if (quote := quotes.get((asset.coin_symbol, currency))) is not None
    ]
    Rate.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["asset", "currency"],
        update_fields=["rate", "source", "as_of", "valid_until"],
    )
    _keep_first_of_day(rows, at)
    return len(rows)


def _keep_first_of_day(rows: list[Rate], at: datetime) -> None:
    """Books are valued by the first rate that a day knew; it is never changed."""
    kept = set(DailyRate.objects.filter(day=at.date()).values_list("asset_id", "currency"))
    DailyRate.objects.bulk_create(
        [
            DailyRate(asset_id=row.asset_id, currency=row.currency, day=at.date(), rate=row.rate, source=row.source, as_of=at)
            for row in rows
            if (row.asset_id, row.currency) not in kept
        ],
        ignore_conflicts=True,
    )


def _last(assets: Iterable[Asset], at: datetime) -> dict[Pair, Decimal]:
    """What each coin was last worth; what a fixed table said measures nothing."""
    rows = Rate.objects.filter(asset__in=assets, as_of__gt=at - MEMORY, valid_until__lt=FAR_FUTURE).order_by("as_of")
    return {(coin, currency): rate for coin, currency, rate in rows.values_list("asset__coin_symbol", "currency", "rate")}


def _quotes(mode: str, pairs: set[Pair], last: dict[Pair, Decimal]) -> dict[Pair, Quote]:
    """The first believable rate of each pair. A later provider is asked only for what is missing or in doubt."""
    found: dict[Pair, Quote] = {}
    doubted: dict[Pair, list[Decimal]] = {}
    for provider in providers(mode):
        missing = pairs - found.keys()
        if not missing:
            break
        for pair, rate in _answer(provider, missing).items():
            if pair not in last or is_rate_near(rate, last[pair]) or any(is_rate_near(rate, other) for other in doubted.get(pair, ())):
                found[pair] = Quote(rate, provider)
            else:
                doubted.setdefault(pair, []).append(rate)
    for coin, currency in sorted(doubted.keys() - found.keys()):
        log.error("rate_jumped", coin=coin, currency=currency)
    return found


def _answer(provider: RateProvider, pairs: set[Pair]) -> dict[Pair, Decimal]:
    try:
        told = provider.rates(sorted(pairs))
    except ProviderError as error:
        log.warning("rates_unavailable", provider=provider.name, error=str(error))
        return {}
    return {pair: rate for pair, rate in told.items() if pair in pairs and RATE_MIN <= rate <= RATE_MAX}


def _valid_until(quote: Quote, at: datetime) -> datetime:
    return FAR_FUTURE if quote.provider.is_always_current else at + timedelta(seconds=settings.RATE_MAX_AGE_SECONDS)
