"""Quote of a swap: its assets, amount, and the provider's estimate. Nothing is kept or reserved."""

from dataclasses import dataclass
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string

from apps.assets.models import Asset
from apps.assets.services import AssetNotActive
from apps.core.errors import Failure, NotFound, RefusalKind
from apps.core.models import Viewer
from apps.core.money import Amount, Bps
from apps.swaps.documents import SwapQuoteDocument
from apps.swaps.providers.base import NoRoute, ProviderError, SwapProvider
from apps.swaps.requests import SwapRequest


class SameAsset(Failure):
    field = "buy_asset_id"
    message = "Source and buy asset must differ"


class InvalidSwapAmount(Failure):
    field = "sell_amount_atomic"
    message = "Amount must be a positive integer string"


class NoSwapRoute(Failure):
    message = "No route for this swap"
    code = "no_route"


class DayLimitReached(Failure):
    message = "No route for this swap: it is above what can be swapped in 24 hours"
    code = "no_route"


class QuoteUnavailable(Failure):
    message = "Swap quotes are not available at the moment"
    code = "quote_unavailable"
    kind = RefusalKind.UNAVAILABLE


@dataclass(frozen=True)
class SwapEstimate:
    """An estimate of what an amount buys, and the least of it that would be taken."""

    sold: Amount[Asset]
    estimated: Amount[Asset]
    least: Amount[Asset]
    slippage_bps: int
    provider: str

    def document(self) -> SwapQuoteDocument:
        return SwapQuoteDocument(
            source_asset_id=self.sold.asset.pk,
            buy_asset_id=self.estimated.asset.pk,
            sell_amount_atomic=str(self.sold.atomic),
            estimated_buy_amount_atomic=str(self.estimated.atomic),
            min_received_atomic=str(self.least.atomic),
            slippage_bps=self.slippage_bps,
            buy_atomic_decimals=self.estimated.asset.atomic_decimals,
        )


def provider_of(mode: str, name: str | None = None) -> SwapProvider:
    """The adapter that a mode's new swaps go to, or the one that an earlier swap went to."""
    entries = settings.PROVIDERS["swaps"][mode]
    providers = (
        cast(SwapProvider, import_string(entry["BACKEND"])(**entry["OPTIONS"])) for entry in entries
    )
    return next(provider for provider in providers if name is None or provider.name == name)


def quote_swap(viewer: Viewer, request: SwapRequest) -> SwapEstimate:
    """Raises NotFound, AssetNotActive, SameAsset, InvalidSwapAmount, NoSwapRoute or
    QuoteUnavailable. Not inside a transaction."""
    source, buy = assets_of(viewer, request)
    return estimate(viewer.mode, Amount(source, request.sell_atomic), buy)


def assets_of(viewer: Viewer, request: SwapRequest) -> tuple[Asset, Asset]:
    """Sold and bought asset of a valid request."""
    source = _asset(viewer, request.source_asset_id)
    buy = _asset(viewer, request.buy_asset_id)
    if source == buy:
        raise SameAsset
    if request.sell_atomic <= 0:
        raise InvalidSwapAmount
    return source, buy


def estimate(mode: str, sold: Amount[Asset], buy: Asset) -> SwapEstimate:
    provider = provider_of(mode)
    slippage_bps = settings.SWAP_SLIPPAGE_BPS
    try:
        estimated = provider.quote(sold, buy)
    except NoRoute:
        raise NoSwapRoute from None
    except ProviderError:
        raise QuoteUnavailable(retry_after=5) from None
    return SwapEstimate(
        sold, estimated, estimated.after_slippage(Bps(slippage_bps)), slippage_bps, provider.name
    )


def _asset(viewer: Viewer, asset_id: str) -> Asset:
    asset = Asset.objects.filter(pk=asset_id).select_related("chain").first()
    if asset is None:
        raise NotFound("Asset not found")
    if not asset.is_active or asset.mode != viewer.mode:
        raise AssetNotActive
    return asset
