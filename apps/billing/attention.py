"""Billing records that need a person: each selector is one statement, served by an index of its
own."""

from datetime import datetime

from django.db.models import F, QuerySet

from apps.billing.models import Invoice, Subscription
from apps.core.models import Viewer


def flagged_invoices(viewer: Viewer, since: datetime) -> "QuerySet[Invoice]":
    """Void or written off and paid all the same, or paid more than their total, since then, and not
    given back."""
    rows = Invoice.objects.visible_to(viewer).filter(
        needs_attention__isnull=False, updated_at__gte=since
    )
    return (
        rows.filter(refunded_cents__lt=F("amount_paid_cents"))
        .select_related("customer")
        .order_by("-updated_at")
    )


def past_due_subscriptions(viewer: Viewer) -> "QuerySet[Subscription]":
    rows = Subscription.objects.visible_to(viewer).filter(status=Subscription.Status.PAST_DUE)
    return rows.select_related("customer", "price__product").order_by("-updated_at")
