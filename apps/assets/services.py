"""Which assets a store takes. It always takes at least one in each mode."""

from django.db import transaction

from apps.access.access import Access
from apps.assets.models import AcceptedAsset, Asset
from apps.core import clock
from apps.core.errors import Flat, NotFound
from apps.core.models import Mode
from apps.stores.models import Store


class LastAsset(Flat):
    message = "The last accepted asset can't be removed"


class AssetNotActive(Flat):
    message = "Asset is not active"


def accept_all_active(store: Store) -> None:
    """What a new store begins with: every active asset of each mode."""
    at = clock.real_now()
    rows = [
        AcceptedAsset(store=store, mode=mode, asset=asset, created_at=at)
        for mode in Mode.values
        for asset in Asset.objects.filter(is_active=True, chain__mode=mode)
    ]
    AcceptedAsset.objects.bulk_create(rows, ignore_conflicts=True)


def set_accepted(access: Access, asset_id: str, is_accepted: bool) -> None:
    """Take an asset or stop taking it. Raises NotFound, AssetNotActive or LastAsset."""
    asset = Asset.objects.filter(pk=asset_id).select_related("chain").first()
    if asset is None:
        raise NotFound("Asset not found")
    if not asset.is_active or asset.chain.mode != access.mode:
        raise AssetNotActive
    with transaction.atomic():
        Store.objects.select_for_update(no_key=True).get(pk=access.store_id)
        rows = AcceptedAsset.objects.seen_by(access)
        if is_accepted:
            AcceptedAsset.objects.get_or_create(
                store=access.store, mode=access.mode, asset=asset, defaults={"created_at": clock.real_now()}
            )
        elif rows.filter(asset=asset).exists():
            if not rows.filter(asset__is_active=True).exclude(asset=asset).exists():
                raise LastAsset
            rows.filter(asset=asset).delete()
