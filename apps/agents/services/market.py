"""Public market figures of a coin, asked of the configured source and kept for a minute, so that a flood asks it once."""

from typing import Any, cast

from django.conf import settings
from django.core.cache import cache
from django.utils.module_loading import import_string

from apps.agents.documents import market_document
from apps.agents.providers.base import MarketData, MarketFigures, ProviderError, TokenUnknown, UpstreamThrottled
from apps.core.buckets import unreachable
from apps.core.errors import Coded, NotFound, RefusalKind

KEPT_SECONDS, UNKNOWN_KEPT_SECONDS = 60, 300
QUERY_MAX = 100


class MissingParameter(Coded):
    code = "missing_parameter"
    message = "symbol_or_id is required"


class TokenNotFound(NotFound):
    code = "token_not_found"
    message = "Token not found"


class Throttled(Coded):
    kind = RefusalKind.TOO_MANY
    code = "upstream_rate_limited"
    message = "The price provider has had too many requests"


class Unavailable(Coded):
    kind = RefusalKind.UPSTREAM
    code = "market_data_error"
    message = "The price provider can't be reached"


def market_data(query: str | None, currency: str | None) -> dict[str, Any]:
    """Figures as JSON numbers. Raises MissingParameter, TokenNotFound, Throttled or Unavailable."""
    if not query or not query.strip():
        raise MissingParameter
    wanted, money = query.strip(), (currency or "usd").strip().lower()
    if not _is_plain(wanted) or not _is_plain(money):
        raise TokenNotFound
    key = f"market:{wanted}:{money}"
    kept = _kept(key)
    if kept == "unknown":
        raise TokenNotFound
    if kept is not None:
        return cast(dict[str, Any], kept)
    try:
        entry = settings.PROVIDERS["market"]["live"][0]
        source = cast(MarketData, import_string(entry["BACKEND"])(**entry["OPTIONS"]))
        told = market_document(query, money, source.name, _numbers(source.figures(wanted, money)))
    except TokenUnknown:
        _keep(key, "unknown", UNKNOWN_KEPT_SECONDS)
        raise TokenNotFound from None
    except UpstreamThrottled:
        raise Throttled(retry_after=60) from None
    except ProviderError:
        raise Unavailable from None
    _keep(key, told, KEPT_SECONDS)
    return told


def _is_plain(text: str) -> bool:
    return len(text) <= QUERY_MAX and text.isascii() and all(one.isalnum() or one == "-" for one in text)


def _numbers(figures: MarketFigures) -> MarketFigures:
    """JSON numbers for a person's eyes; no money is counted with them."""
    return MarketFigures(
        figures.coin_id, *(_number(one) for one in (figures.price, figures.market_cap, figures.volume_24h, figures.change_24h_pct))
    )


def _number(value: Any) -> Any:
    return value if value is None or isinstance(value, int) else float(value)


def _kept(key: str) -> Any:
    try:
        return cache.get(key)
    except unreachable():
        return None


def _keep(key: str, value: Any, seconds: int) -> None:
    try:
        cache.set(key, value, seconds)
    except unreachable():
        return
