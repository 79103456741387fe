"""Swaps by id or transaction; indexes alone are asked."""

from django.db.models import Q

from apps.core.models import Viewer
from apps.core.searching import SearchTerm
from apps.swaps.models import Swap


def find_swaps(viewer: Viewer, term: SearchTerm, limit: int) -> list[Swap]:
    """Newest first."""
    if not term.is_exact:
        return []
    condition = Q(tx_hash=term.tx_hash) if term.tx_hash else Q(pk=term.id)
    rows = (
        Swap.objects.visible_to(viewer)
        .filter(condition)
        .select_related("source_asset", "buy_asset")
    )
    return list(rows.order_by("-created_at", "-id")[:limit])
