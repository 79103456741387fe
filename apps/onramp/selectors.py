"""Reads of card payments. A session that isn't open yet (without a url) is nobody's to see."""

import uuid

from django.db.models import QuerySet

from apps.core.db import tenancy
from apps.onramp.models import FundingSession
from apps.payments.models import Payment


def sessions_of(payment: Payment) -> "QuerySet[FundingSession]":
    """A payment's sessions, newest first."""
    rows = (
        FundingSession.objects.filter(payment=payment)
        .exclude(url="")
        .select_related("asset__chain")
    )
    return rows.order_by("-created_at", "-id")


def latest_session(payment: Payment) -> FundingSession | None:
    return sessions_of(payment).first() if payment.is_card_funded else None


def open_session_by_id(id: uuid.UUID) -> FundingSession | None:
    """For the sandbox's card page, whose address is the only key."""
    rows = FundingSession.objects.filter(pk=id, provider="sandbox").exclude(url="")
    return tenancy.opened(
        "the page of a card payment", rows.select_related("store", "payment__store", "asset").first
    )
