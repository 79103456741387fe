"""Reads of what payers have signed."""

from django.db import models

from apps.agents.models import SignedPayment
from apps.core.models import Viewer
from apps.payments.models import Payment


def signed_payments_seen_by(viewer: Viewer) -> "models.QuerySet[SignedPayment]":
    """Newest first, each with what it pays."""
    rows = SignedPayment.objects.seen_by(viewer).select_related("offer__payment", "offer__asset__chain")
    return rows.order_by("-created_at", "-id")


def signed_payment_of(viewer: Viewer, payment: Payment) -> SignedPayment | None:
    """The newest authorization of an intent that was asked for over x402."""
    return signed_payments_seen_by(viewer).filter(offer__payment=payment).first()
