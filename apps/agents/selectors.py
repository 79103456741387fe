"""Reads of what payers have signed, and of the coins that customers may pay with."""

from django.db import models
from django.db.models import QuerySet, UUIDField

from apps.access.access import Access
from apps.access.models import AgentCredential
from apps.agents.models import SignedPayment
from apps.assets.models import AcceptedAsset, Asset
from apps.assets.selectors import listed_assets
from apps.core.db.prepared_reads import Query, any_viewer
from apps.core.db.sql import BlankParameter
from apps.core.models import Viewer
from apps.payments.models import Payment


def signed_payments_visible_to(viewer: Viewer) -> "models.QuerySet[SignedPayment]":
    """Newest first, each with what it pays."""
    rows = SignedPayment.objects.visible_to(viewer).select_related(
        "offer__payment", "offer__asset__chain"
    )
    return rows.order_by("-created_at", "-id")


_SIGNED_PAYMENT = Query(
    lambda: signed_payments_visible_to(any_viewer()).filter(
        offer__payment=BlankParameter("payment_id", UUIDField())
    )[:1],
    "offer",
    "offer__payment",
    "offer__asset",
    "offer__asset__chain",
)


def signed_payment_of(viewer: Viewer, payment: Payment) -> SignedPayment | None:
    """The newest authorization of an intent that was asked for over x402."""
    return _SIGNED_PAYMENT.first(store_id=viewer.store_id, mode=viewer.mode, payment_id=payment.pk)


def has_agents(viewer: Viewer) -> bool:
    """True if any software was ever given a credential of this store and mode."""
    return agents_visible_to(viewer).exists()


def agents_visible_to(viewer: Viewer) -> "QuerySet[AgentCredential]":
    rows: QuerySet[AgentCredential] = AgentCredential.objects.visible_to(viewer)
    return rows


def tokens_of(access: Access) -> tuple[list[Asset], list[Asset]]:
    """The active assets of the mode: those that customers can pay with, and the others."""
    accepted = set(AcceptedAsset.objects.visible_to(access).values_list("asset_id", flat=True))
    assets = listed_assets(access.mode)
    return [asset for asset in assets if asset.pk in accepted], [
        asset for asset in assets if asset.pk not in accepted
    ]
