"""Coins of a store that staff have stopped."""

from django.db.models import QuerySet

from apps.assets.models import AcceptedAsset
from apps.core.models import Viewer


def stopped_assets(viewer: Viewer) -> "QuerySet[AcceptedAsset]":
    rows: QuerySet[AcceptedAsset] = AcceptedAsset.objects.visible_to(viewer).exclude(
        suspended_at=None
    )
    return rows.select_related("asset__chain").order_by("-suspended_at")
