"""What a swap would bring: which assets, how much, and the provider's estimate. Nothing is kept or reserved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.conf import settings
from django.utils.module_loading import import_string

from apps.assets.models import Asset
from apps.assets.services import AssetNotActive
from apps.core import money
from apps.core.errors import Coded, Flat, NotFound, RefusalKind
from apps.core.literal import AtomicAmount, Invalid, Object, Text
from apps.core.models import Viewer
from apps.swaps.providers.base import NoRoute, ProviderError, SwapProvider

FIELDS = Object({"source_asset_id": Text(20, required=True), "buy_asset_id": Text(20, required=True)})
AMOUNT = AtomicAmount(required=True)
BODY = Object({**FIELDS.fields, "sell_amount_atomic": AMOUNT})


class SameAsset(Flat):
    message = "Source and buy asset must differ"


class NotAnAmount(Flat):
    message = "Amount must be a positive integer string"


class NoSwapRoute(Coded):
    message, code = "No route for this swap", "no_route"


class DayLimitReached(Coded):
    message, code = "No route for this swap: it is above what can be swapped in 24 hours", "no_route"


class QuoteUnavailable(Coded):
    message = "Swap quotes are not available at the moment"
    code = "quote_unavailable"
    kind = RefusalKind.UNAVAILABLE


@dataclass(frozen=True)
class Quote:
    """An estimate of what an amount buys, and the least of it that would be taken."""

    source: Asset
    buy: Asset
    sell_atomic: int
    estimated_atomic: int
    min_received_atomic: int
    slippage_bps: int
    provider: str

    def document(self) -> dict[str, Any]:
        return {
            "source_asset_id": self.source.pk,
            "buy_asset_id": self.buy.pk,
            "sell_amount_atomic": str(self.sell_atomic),
            "estimated_buy_amount_atomic": str(self.estimated_atomic),
            "min_received_atomic": str(self.min_received_atomic),
            "slippage_bps": self.slippage_bps,
            "buy_atomic_decimals": self.buy.atomic_decimals,
        }


def sell_amount(body: Mapping[str, Any]) -> str:
    """The amount as it was sent; anything but a string of digits is refused. Raises Invalid or NotAnAmount."""
    given = body.get("sell_amount_atomic")
    if given is None:
        raise Invalid("sell_amount_atomic", "required")
    if not isinstance(given, str):
        raise NotAnAmount
    return given


def provider_of(mode: str, name: str | None = None) -> SwapProvider:
    """The adapter that a mode's new swaps go to, or the one that an earlier swap went to."""
    entries = settings.PROVIDERS["swaps"][mode]
    made = (cast(SwapProvider, import_string(one["BACKEND"])(**one["OPTIONS"])) for one in entries)
    return next(one for one in made if name is None or one.name == name)


def quote_swap(viewer: Viewer, *, source_asset_id: str, buy_asset_id: str, sell_amount_atomic: str) -> Quote:
    """Raises NotFound, AssetNotActive, SameAsset, NotAnAmount, NoSwapRoute or QuoteUnavailable. Not inside a transaction."""
    source, buy, amount = read_order(viewer, source_asset_id, buy_asset_id, sell_amount_atomic)
    return estimate(viewer.mode, source, buy, amount)


def read_order(viewer: Viewer, source_asset_id: str, buy_asset_id: str, sell_amount_atomic: str) -> tuple[Asset, Asset, int]:
    """The two assets and the amount of a wish, as far as they make sense."""
    source, buy = _asset(viewer, source_asset_id), _asset(viewer, buy_asset_id)
    if source == buy:
        raise SameAsset
    try:
        amount = int(AMOUNT.check(sell_amount_atomic, "sell_amount_atomic"))
    except Invalid:
        raise NotAnAmount from None
    if amount == 0:
        raise NotAnAmount
    return source, buy, amount


def estimate(mode: str, source: Asset, buy: Asset, sell_atomic: int) -> Quote:
    provider, slippage_bps = provider_of(mode), settings.SWAP_SLIPPAGE_BPS
    try:
        estimated = provider.quote(source, buy, sell_atomic)
    except NoRoute:
        raise NoSwapRoute from None
    except ProviderError:
        raise QuoteUnavailable(retry_after=5) from None
    least = money.after_slippage(estimated, slippage_bps)
    return Quote(source, buy, sell_atomic, estimated, least, slippage_bps, provider.name)


def _asset(viewer: Viewer, asset_id: str) -> Asset:
    asset = Asset.objects.filter(pk=asset_id).select_related("chain").first()
    if asset is None:
        raise NotFound("Asset not found")
    if not asset.is_active or asset.mode != viewer.mode:
        raise AssetNotActive
    return asset
