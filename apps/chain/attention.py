"""What of a store's outgoing coins only a person of the service can say the outcome of."""

from django.db.models import QuerySet

from apps.chain.models import OutgoingTransaction
from apps.core.models import Viewer

_Purpose = OutgoingTransaction.Purpose


def sendings_in_review(viewer: Viewer) -> "QuerySet[OutgoingTransaction]":
    """Of refunds and swaps; the reference is their id. A payout tells it by its own status."""
    rows = OutgoingTransaction.objects.filter(store_id=viewer.store_id, mode=viewer.mode, status=OutgoingTransaction.Status.REVIEW)
    return rows.filter(purpose__in=[_Purpose.REFUND, _Purpose.SWAP]).select_related("asset").order_by("-requested_at")
