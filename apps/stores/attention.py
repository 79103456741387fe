"""Verifications of a store that came to nothing, or are being looked at."""

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from apps.core.models import Viewer
from apps.stores.models import Verification


def rejected_verifications(viewer: Viewer) -> "QuerySet[Verification]":
    """The last one, where it was rejected; a store has few."""
    newest = (
        Verification.objects.filter(store=OuterRef("store"))
        .order_by("-created_at")
        .values("pk")[:1]
    )
    rows = Verification.objects.filter(
        store_id=viewer.store_id, status=Verification.Status.REJECTED, pk=Subquery(newest)
    )
    return rows.order_by("-created_at")


def is_business_in_review() -> Exists:
    """Of a row that has a store: whether we are looking at the store's business."""
    return Exists(
        Verification.objects.filter(
            store_id=OuterRef("store_id"), status=Verification.Status.PENDING
        )
    )
