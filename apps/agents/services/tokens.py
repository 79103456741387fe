"""Assets as agents see them: which a store's customers may pay with, and the service's own
rates."""

from datetime import datetime

from django.db import transaction
from msgspec import UNSET

from apps.access.access import Access
from apps.agents.documents.agents import (
    AgentTokenChangeDocument,
    ExchangeRatesDocument,
    lowest_price_text,
    rate_document,
)
from apps.agents.models import AgentSettings
from apps.agents.providers.base import Envelope, TokenDetails
from apps.agents.requests.payments import TokenChange
from apps.agents.services import authorize
from apps.assets.lowest_prices import (
    NotAccepted,
    NotBetween,
    NotPegged,
    lowest_prices,
    set_lowest_price,
)
from apps.assets.models import Asset, Rate
from apps.assets.selectors import listed_assets
from apps.assets.services import LastAsset, set_accepted
from apps.core.db.sql import Statement
from apps.core.errors import Failure, NotFound
from apps.core.text.wording import Worded
from apps.stores.models import Currency


class AgentAssetNotFound(NotFound):
    code = "asset_not_found"
    message = "Asset not found"


class TokenNotActive(Failure):
    code = "asset_not_active"
    message = "Asset is not active"


class AssetChangeRejected(Failure):
    code = "asset_change_rejected"


class RateCurrencyUnsupported(Failure):
    code = "unsupported_currency"


def asset_for(mode: str, asset_id: str) -> Asset:
    """An active asset of the mode. Raises AgentAssetNotFound or TokenNotActive."""
    asset = find_token(asset_id)
    if not asset.is_active or asset.chain.mode != mode:
        raise TokenNotActive
    return asset


_ACTIVE = Statement("""
SELECT a.is_active AND c.mode = %(mode)s FROM assets_asset a
    JOIN assets_chain c ON c.id = a.chain_id WHERE a.id = %(asset_id)s
""")


def require_active(mode: str, asset_id: str) -> None:
    """The check of `asset_for`, for callers that need no more than the id. Raises
    AgentAssetNotFound or TokenNotActive."""
    if not asset_id.isprintable() or _ACTIVE.rows(mode=mode, asset_id=asset_id) != [(True,)]:
        asset_for(mode, asset_id)


def find_token(asset_id: str) -> Asset:
    """Any asset the service knows of. Raises AgentAssetNotFound."""
    asset = (
        Asset.objects.filter(pk=asset_id).select_related("chain").first()
        if asset_id.isprintable()
        else None
    )
    if asset is None:
        raise AgentAssetNotFound
    return asset


def change_token(
    access: Access, asset_id: str, change: TokenChange, envelope: Envelope | None
) -> AgentTokenChangeDocument:
    """Accept an asset or stop, and set its lowest price where one is named. Raises
    AgentAssetNotFound, TokenNotActive, AssetChangeRejected, MandateRequired, or the provider's
    refusal."""
    authorize.require_provider(access.store)
    asset = asset_for(access.mode, asset_id)
    details = TokenDetails(active=change.active, lowest_price=change.lowest_price)
    authorize.require(access, details, envelope, asset_id=asset.pk)
    try:
        with transaction.atomic():
            set_accepted(access, asset.pk, change.active)
            if change.lowest_price is not UNSET:
                set_lowest_price(access, asset.pk, change.lowest_price)
    except (LastAsset, NotPegged, NotBetween, NotAccepted) as refusal:
        raise AssetChangeRejected(str(refusal)) from None
    return AgentTokenChangeDocument(
        asset_id=asset.pk,
        active=change.active,
        provider=AgentSettings.of(access.store).authorization_provider,
        lowest_price=lowest_price_text(lowest_prices(access).get(asset.pk)),
    )


def exchange_rates(
    access: Access, currency: str | None, asset_id: str | None, real: datetime
) -> ExchangeRatesDocument:
    """The service's own rates that are valid at `real` (machine time); assets without one are left
    out."""
    currency_code = currency or access.store.settlement_currency
    if currency_code not in Currency.values:
        raise RateCurrencyUnsupported(
            Worded("Unsupported currency: {currency_code}", currency_code=currency_code[:20])
        )
    chosen = listed_assets(access.mode) if asset_id is None else [asset_for(access.mode, asset_id)]
    assets = {asset.pk: asset for asset in chosen}
    rows = Rate.objects.filter(
        asset_id__in=assets, currency=currency_code, valid_until__gt=real
    ).order_by("asset__position", "asset_id")
    return ExchangeRatesDocument(
        currency=currency_code, rates=[rate_document(assets[row.asset_id], row) for row in rows]
    )
