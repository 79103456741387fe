"""A store's outgoing coins that wait for the service: outcomes that only a person can decide, and
wallets without funds."""

from datetime import datetime, timedelta

from django.db.models import (
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
)
from django.db.models.functions import Coalesce

from apps.assets.models import AcceptedAsset
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending.following import shown_in_review
from apps.core.models import Viewer

FILLED_WITHIN = timedelta(minutes=10)  # as a rule


def sendings_in_review(viewer: Viewer) -> "QuerySet[OutgoingTransaction]":
    """Of whatever a store's people are shown (`following.place_of` says what it is). A payout has a
    status of its own."""
    rows = OutgoingTransaction.objects.filter(
        store_id=viewer.store_id, mode=viewer.mode, status=OutgoingTransaction.Status.REVIEW
    )
    return (
        rows.filter(purpose__in=shown_in_review()).select_related("asset").order_by("-requested_at")
    )


def delayed_wallets(viewer: Viewer, real: datetime, ahead: timedelta) -> "QuerySet[HotWallet]":
    """Of the chains whose coins the store takes, the first wallet of those that nothing leaves, or
    that have been short of coins or gas for a while. While another is at work nothing is late.

    `since` is by the store's clock, which is `ahead` of the machine's.
    """
    chains = AcceptedAsset.objects.visible_to(viewer).values("asset__chain")
    late = Q(short_since__lte=real - FILLED_WITHIN) | Q(halted_at__isnull=False)
    at_work = HotWallet.objects.filter(~late, chain=OuterRef("chain"))
    rows: QuerySet[HotWallet] = HotWallet.objects.filter(
        late, ~Exists(at_work), number=0, chain__in=chains, chain__mode=viewer.mode
    ).select_related("chain")
    since = ExpressionWrapper(
        Coalesce(F("halted_at"), F("short_since")) + ahead, output_field=DateTimeField()
    )
    return rows.annotate(since=since).order_by("-since")
