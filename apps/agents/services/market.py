"""Public market figures of a coin from the configured source, cached for a minute so that many
requests cause a single call."""

from decimal import Decimal
from typing import cast

import msgspec
from django.conf import settings
from django.utils.module_loading import import_string

from apps.agents.documents.agents import MarketFiguresDocument
from apps.agents.providers.base import (
    CoinFigures,
    MarketFigures,
    ProviderError,
    TokenUnknown,
    UpstreamThrottled,
)
from apps.core.errors import Failure, NotFound, RefusalKind
from apps.core.redis import value_cache

KEPT_SECONDS = 60
UNKNOWN_KEPT_SECONDS = 300
QUERY_MAX = 100
UNKNOWN = b""


class MissingParameter(Failure):
    code = "missing_parameter"
    message = "symbol_or_id is required"


class TokenNotFound(NotFound):
    code = "token_not_found"
    message = "Token not found"


class MarketThrottled(Failure):
    kind = RefusalKind.TOO_MANY
    code = "upstream_rate_limited"
    message = "The price provider has had too many requests"


class MarketUnavailable(Failure):
    kind = RefusalKind.UPSTREAM
    code = "market_data_error"
    message = "The price provider can't be reached"


def market_data(query: str | None, currency: str | None) -> MarketFiguresDocument:
    """Figures as JSON numbers.

    Raises MissingParameter, TokenNotFound, MarketThrottled or MarketUnavailable.
    """
    if not query or not query.strip():
        raise MissingParameter
    asset_query = query.strip()
    money = (currency or "usd").strip().lower()
    if not _is_plain(asset_query) or not _is_plain(money):
        raise TokenNotFound
    key = f"market:json:{asset_query}:{money}"
    figures = value_cache.get(key)
    if not isinstance(figures, bytes):
        figures = _fetch(asset_query, money)
        value_cache.put(key, figures, KEPT_SECONDS if figures != UNKNOWN else UNKNOWN_KEPT_SECONDS)
    if figures == UNKNOWN:
        raise TokenNotFound
    return msgspec.json.decode(figures, type=MarketFiguresDocument)


def _is_plain(text: str) -> bool:
    return (
        len(text) <= QUERY_MAX
        and text.isascii()
        and all(character.isalnum() or character == "-" for character in text)
    )


def _fetch(asset_query: str, currency: str) -> bytes:
    """The source's figures as JSON, in which form they are kept; UNKNOWN when it knows no such
    coin. Raises MarketThrottled or MarketUnavailable."""
    try:
        entry = settings.PROVIDERS["market"]["live"][0]
        source = cast(CoinFigures, import_string(entry["BACKEND"])(**entry["OPTIONS"]))
        return msgspec.json.encode(
            _document(asset_query, currency, source.name, source.figures(asset_query, currency))
        )
    except TokenUnknown:
        return UNKNOWN
    except UpstreamThrottled:
        raise MarketThrottled(retry_after=60) from None
    except ProviderError:
        raise MarketUnavailable from None


def _document(
    query: str, currency: str, source: str, figures: MarketFigures
) -> MarketFiguresDocument:
    return MarketFiguresDocument(
        query=query,
        coin_id=figures.coin_id,
        vs_currency=currency,
        price=_number(figures.price),
        market_cap=_number_or_none(figures.market_cap),
        volume_24h=_number_or_none(figures.volume_24h),
        change_24h_pct=_number_or_none(figures.change_24h_pct),
        source=source,
    )


def _number(value: int | Decimal) -> float:
    return float(value)


def _number_or_none(value: int | Decimal | None) -> float | None:
    return None if value is None else _number(value)
