"""Keeping rates fresh: the first provider that answers prices, a rate that jumps needs a second opinion, an old one prices nothing."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import cast

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from apps.assets.models import Asset, Rate
from apps.assets.providers.base import Pair, RateProvider
from apps.core import clock
from apps.core.errors import ProviderError
from apps.core.models import Mode
from apps.stores.models import Currency

log = structlog.get_logger(__name__)
FAR_FUTURE = datetime(9999, 1, 1, tzinfo=UTC)
JUMP_MAX = Decimal("0.5")
RATE_MAX = Decimal(10) ** 12


def providers(mode: str) -> list[RateProvider]:
    """The adapters of a mode, in the order in which they are asked."""
    return [cast(RateProvider, import_string(one["BACKEND"])(**one["OPTIONS"])) for one in settings.PROVIDERS["rates"][mode]]


def refresh() -> int:
    """Ask for every known asset in every currency and keep what is believable; how many rates were written."""
    at = clock.real_now()
    return sum(_refresh_mode(mode, at) for mode in Mode.values)


def _refresh_mode(mode: str, at: datetime) -> int:
    assets = list(Asset.objects.filter(chain__mode=mode))
    pairs = {(asset.coin_symbol, currency) for asset in assets for currency in Currency.values}
    answers = _answers(mode, pairs)
    last = {(rate.asset_id, rate.currency): rate.rate for rate in Rate.objects.filter(asset__in=assets, valid_until__gt=at)}
    rows = [
        Rate(asset=asset, currency=currency, rate=found[0], source=found[1].name, as_of=at, valid_until=_valid_until(found[1], at))
        for asset in assets
        for currency in Currency.values
        if (found := _believable((asset.coin_symbol, currency), answers, last.get((asset.pk, currency)))) is not None
    ]
    Rate.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["asset", "currency"],
        update_fields=["rate", "source", "as_of", "valid_until"],
    )
    return len(rows)


def _answers(mode: str, pairs: set[Pair]) -> list[tuple[RateProvider, dict[Pair, Decimal]]]:
    """What each provider says; later ones are asked only for what is missing, or when a jump needs them."""
    answers: list[tuple[RateProvider, dict[Pair, Decimal]]] = []
    for provider in providers(mode):
        try:
            answers.append((provider, provider.rates(sorted(pairs))))
        except ProviderError as error:
            log.warning("rates_unavailable", provider=provider.name, error=str(error))
    return answers


def _valid_until(provider: RateProvider, at: datetime) -> datetime:
    return FAR_FUTURE if provider.is_always_current else at + timedelta(seconds=settings.RATE_MAX_AGE_SECONDS)


def _believable(
    pair: Pair, answers: list[tuple[RateProvider, dict[Pair, Decimal]]], last: Decimal | None
) -> tuple[Decimal, RateProvider] | None:
    """The first provider's rate, unless it jumped and no other provider agrees; then the old rate runs out by itself."""
    quotes = [(answer[pair], provider) for provider, answer in answers if pair in answer and 0 < answer[pair] < RATE_MAX]
    if not quotes:
        return None
    rate, provider = quotes[0]
    if last is None or _is_near(rate, last) or any(_is_near(rate, other) for other, _ in quotes[1:]):
        return rate, provider
    log.error("rate_jumped", coin=pair[0], currency=pair[1], provider=provider.name)
    return None


def _is_near(rate: Decimal, other: Decimal) -> bool:
    return abs(rate - other) <= other * JUMP_MAX
