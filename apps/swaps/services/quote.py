"""What a swap would bring: which assets, how much, and the provider's estimate. Nothing is kept or reserved."""

from dataclasses import dataclass
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string

from apps.assets.models import Asset
from apps.assets.services import AssetNotActive
from apps.core import money
from apps.core.errors import Coded, Flat, NotFound, RefusalKind
from apps.core.models import Viewer
from apps.swaps.documents import SwapQuoteDocument
from apps.swaps.providers.base import NoRoute, ProviderError, SwapProvider
from apps.swaps.requests import SwapRequest


class SameAsset(Flat):
    field = "buy_asset_id"
    message = "Source and buy asset must differ"


class NotAnAmount(Flat):
    field = "sell_amount_atomic"
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

    def document(self) -> SwapQuoteDocument:
        return SwapQuoteDocument(
            source_asset_id=self.source.pk,
            buy_asset_id=self.buy.pk,
            sell_amount_atomic=str(self.sell_atomic),
            estimated_buy_amount_atomic=str(self.estimated_atomic),
            min_received_atomic=str(self.min_received_atomic),
            slippage_bps=self.slippage_bps,
            buy_atomic_decimals=self.buy.atomic_decimals,
        )


def provider_of(mode: str, name: str | None = None) -> SwapProvider:
    """The adapter that a mode's new swaps go to, or the one that an earlier swap went to."""
    entries = settings.PROVIDERS["swaps"][mode]
    made = (cast(SwapProvider, import_string(one["BACKEND"])(**one["OPTIONS"])) for one in entries)
    return next(one for one in made if name is None or one.name == name)


def quote_swap(viewer: Viewer, request: SwapRequest) -> Quote:
    """Raises NotFound, AssetNotActive, SameAsset, NotAnAmount, NoSwapRoute or QuoteUnavailable. Not inside a transaction."""
    source, buy = assets_of(viewer, request)
    return estimate(viewer.mode, source, buy, request.sell_atomic)


def assets_of(viewer: Viewer, request: SwapRequest) -> tuple[Asset, Asset]:
    """What is sold and what is bought, of a request that makes sense."""
    source, buy = _asset(viewer, request.source_asset_id), _asset(viewer, request.buy_asset_id)
    if source == buy:
        raise SameAsset
    if request.sell_atomic <= 0:
        raise NotAnAmount
    return source, buy


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
