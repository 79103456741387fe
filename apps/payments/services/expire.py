"""Deadlines: an open intent whose time is past is settled once more, which expires, fails or
completes it."""

import uuid
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce, Greatest

from apps.chain.sending import costs
from apps.core import clock
from apps.core.rows import Job
from apps.payments import states
from apps.payments.models import Payment
from apps.payments.services import looks
from apps.payments.services.settle import settle_payment

OPEN = (states.PENDING, states.PROCESSING)
JOB = Job("payments.expire_due", limit=500)


def expire_due() -> int:
    """The sweep over every store: settle the open intents whose deadline has passed, once their
    addresses were looked at; how many there were."""
    costs.remember("live")
    looks.look_due()
    real = clock.real_now()
    is_free = Q(held_open_until=None) | clock.is_due("held_open_until", real)
    rows = Payment.objects.filter(is_free, status__in=OPEN).order_by("expires_at")
    return JOB.walk_due(rows, "expires_at", settle_payment, real)


def expire_if_due(payment: Payment) -> Payment:
    """Settles an open intent whose time is past before its checkout is read."""
    if payment.status in OPEN and payment.deadline <= clock.now(payment.store, payment.mode):
        return settle_payment(payment.pk)
    return payment


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """The next deadline among the store's open test intents."""
    rows = _with_deadline(store_id)
    if after is not None:
        rows = rows.filter(judged_at__gt=after)
    return rows.order_by("judged_at").values_list("judged_at", flat=True).first()


def _with_deadline(store_id: uuid.UUID) -> "QuerySet[Any]":
    """The store's open test intents, each with `Payment.deadline` as a column."""
    rows = Payment.objects.filter(store_id=store_id, mode="test", status__in=OPEN)
    annotated: QuerySet[Any] = rows.annotate(
        judged_at=Greatest("expires_at", Coalesce("held_open_until", "expires_at"))
    )
    return annotated


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    rows = _with_deadline(store_id).filter(judged_at__lte=now).order_by("judged_at")
    for payment_id in list(rows.values_list("pk", flat=True)):
        settle_payment(payment_id)
