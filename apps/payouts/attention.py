"""Payouts that need a person: each selector is one statement, served by an index of its own."""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.core.models import Viewer
from apps.payouts import states
from apps.payouts.models import Destination, Payout, PayoutApproval
from apps.stores.models import User


def payouts_in_review(viewer: Viewer) -> "QuerySet[Payout]":
    """Those that staff look at; what waits for a person of the store has an approval."""
    rows = (
        Payout.objects.visible_to(viewer)
        .filter(status=Payout.Status.REQUIRES_REVIEW)
        .exclude(review_reason=states.NEEDS_APPROVER)
    )
    return (
        rows.select_related("asset", "destination")
        .defer("destination__account_sealed")
        .order_by("-created_at")
    )


def failed_payouts(viewer: Viewer) -> "QuerySet[Payout]":
    """Those whose coins are set aside until somebody says what becomes of them: nothing is tried
    again by itself."""
    rows = Payout.objects.visible_to(viewer).filter(
        status=Payout.Status.FAILED, funds=Payout.Funds.RESERVED, retry_at=None
    )
    return (
        rows.select_related("asset", "destination")
        .defer("destination__account_sealed")
        .order_by("-created_at")
    )


def returned_payouts(viewer: Viewer, since: datetime) -> "QuerySet[Payout]":
    """Those that could not arrive where they were sent to, after which nothing of the coin was paid
    out: the coins are back."""
    rows = Payout.objects.visible_to(viewer).filter(
        status=Payout.Status.FAILED, funds=Payout.Funds.RETURNED, created_at__gte=since
    )
    newer = Payout.objects.visible_to(viewer).filter(
        asset=OuterRef("asset"), created_at__gt=OuterRef("created_at")
    )
    rows = rows.filter(~Exists(newer), failure_code__in=states.RETURNED_AT_ONCE)
    return (
        rows.select_related("asset", "destination")
        .defer("destination__account_sealed")
        .order_by("-created_at")
    )


def open_approvals(viewer: Viewer, user: User | None) -> "QuerySet[PayoutApproval]":
    """Approvals that wait for a decision and weren't requested by this person."""
    rows = PayoutApproval.objects.visible_to(viewer).filter(status=PayoutApproval.Status.WAITING)
    return rows.filter(Q(maker=None) | ~Q(maker=user)).order_by("-created_at")


def bank_accounts_waiting(viewer: Viewer) -> "QuerySet[Destination]":
    """Bank accounts that nothing can be paid to before somebody verifies the store's business."""
    rows = Destination.objects.visible_to(viewer).filter(
        kind=Destination.Kind.BANK, verified_at=None, rejected_at=None, removed_at=None
    )
    return rows.order_by("-created_at")
