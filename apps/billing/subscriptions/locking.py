"""The row of a subscription: lock it, ask for its state, move it, and keep `next_step_at` true.

Anyone who changes a cycle's invoice locks its subscription first, so that payments and cycles never
wait for each other in a ring.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models.functions import Greatest

from apps.billing import events
from apps.billing.models import Invoice, Subscription
from apps.billing.selectors import being_paid, with_parts
from apps.billing.services import emails
from apps.billing.states import (
    ACTIVE,
    OPEN,
    PAST_DUE,
    SUBSCRIPTION_MACHINE,
    SubscriptionFacts,
    SubscriptionMove,
    upcoming,
)
from apps.core.db.sql import Statement, array


def locked(subscription_id: uuid.UUID) -> Subscription:
    """The row, locked, with what its document shows. Only inside a transaction."""
    return with_parts(Subscription.objects.select_for_update(of=("self",))).get(pk=subscription_id)


_LOCK = Statement(
    "SELECT updated_at FROM billing_subscription WHERE id = %(id)s::uuid FOR UPDATE SKIP LOCKED"
)
# When the first is judged: when it is due, or when one that is being paid is looked at again.
_JUDGED_NEXT = Statement("""
SELECT min(greatest(due_at, due_waits_until)) FROM billing_invoice
WHERE subscription_id = %(id)s::uuid AND status = 'open' AND due_judged_at IS NULL
""")

_LOCK_MANY = Statement("""
SELECT id, updated_at FROM billing_subscription WHERE id = ANY (%(ids)s::uuid[])
    FOR UPDATE SKIP LOCKED
""")
_JUDGED_NEXT_OF_MANY = Statement("""
SELECT subscription_id, min(greatest(due_at, due_waits_until)) FROM billing_invoice
WHERE subscription_id = ANY (%(ids)s::uuid[]) AND status = 'open' AND due_judged_at IS NULL
GROUP BY subscription_id
""")
# Columns that a period which begins changes.
_KEEP_MANY = Statement("""
UPDATE billing_subscription SET current_period_start = now.period_start,
    current_period_end = now.period_end, next_billing_at = now.billing_at,
    next_step_at = now.step_at, updated_at = %(at)s
FROM unnest(%(ids)s::uuid[], %(starts)s::timestamptz[], %(ends)s::timestamptz[],
    %(billings)s::timestamptz[], %(steps)s::timestamptz[])
    AS now(id, period_start, period_end, billing_at, step_at)
WHERE billing_subscription.id = now.id RETURNING 1
""")


def locked_if_free(candidate: Subscription) -> Subscription | None:
    """The row, locked, or None when somebody else has it. `known` was just read with its parts, and
    is read again if it has changed."""
    rows = _LOCK.rows(id=str(candidate.pk))
    if not rows:
        return None
    return candidate if rows[0][0] == candidate.updated_at else locked(candidate.pk)


def locked_unchanged(candidates: Sequence[Subscription]) -> list[Subscription]:
    """Those of just read rows that nobody has locked or changed since, locked."""
    rows = dict(_LOCK_MANY.rows(ids=array(row.pk for row in candidates)))
    return [row for row in candidates if rows.get(row.pk) == row.updated_at]


def facts_of(subscription: Subscription) -> SubscriptionFacts:
    return standing(subscription, _JUDGED_NEXT.rows(id=str(subscription.pk))[0][0])


def facts_of_many(subscriptions: Sequence[Subscription]) -> dict[uuid.UUID, SubscriptionFacts]:
    """Facts of several subscriptions, by ID."""
    judged = dict(_JUDGED_NEXT_OF_MANY.rows(ids=array(row.pk for row in subscriptions)))
    return {row.pk: standing(row, judged.get(row.pk)) for row in subscriptions}


def facts_for_people(subscriptions: Sequence[Subscription]) -> dict[uuid.UUID, SubscriptionFacts]:
    """Of several, by ID: what is due and isn't being paid."""
    unpaid_invoices = list(
        Invoice.objects.filter(subscription__in=subscriptions, status=OPEN, due_judged_at=None)
    )
    paying = being_paid(unpaid_invoices)
    dues: dict[Any, datetime] = {}
    for invoice in unpaid_invoices:
        if invoice.due_at is not None and invoice.pk not in paying:
            before = dues.get(invoice.subscription_id, invoice.due_at)
            dues[invoice.subscription_id] = min(before, invoice.due_at)
    return {row.pk: standing(row, dues.get(row.pk)) for row in subscriptions}


def standing(subscription: Subscription, unpaid_due_at: datetime | None) -> SubscriptionFacts:
    """State of a subscription, given its unpaid due time."""
    return SubscriptionFacts(
        status=subscription.status,
        next_billing_at=subscription.next_billing_at,
        cancel_at=subscription.cancel_at if subscription.cancel_at_period_end else None,
        unpaid_due_at=unpaid_due_at,
    )


def unpaid(subscription: Subscription) -> "models.QuerySet[Invoice]":
    """Its open invoices that no due time was judged of, the one judged first at the front."""
    return Invoice.objects.filter(
        subscription=subscription, status=OPEN, due_judged_at=None
    ).order_by(Greatest("due_at", "due_waits_until"))


def move(
    subscription: Subscription,
    to: str,
    change: str,
    at: datetime,
    *,
    event: str | None = None,
    **columns: Any,
) -> None:
    """Give it another status, with its history and event. What else the caller has changed of the
    row is kept by the caller."""
    SUBSCRIPTION_MACHINE.change_locked(
        subscription, SubscriptionMove(to, change, event), at=at, updated_at=at, **columns
    )


def keep(subscription: Subscription, at: datetime, facts: SubscriptionFacts | None = None) -> None:
    """Write the row, with the time of its next step; `facts` when they are known to be those of
    now."""
    step = upcoming(facts or facts_of(subscription))
    subscription.next_step_at = step[0] if step is not None else None
    subscription.updated_at = at
    subscription.save()


def keep_periods(subscriptions: Sequence[Subscription], at: datetime) -> None:
    """Write the period that has begun of several, with the time of their next step."""
    _KEEP_MANY.rows(
        at=at,
        ids=[row.pk for row in subscriptions],
        starts=[row.current_period_start for row in subscriptions],
        ends=[row.current_period_end for row in subscriptions],
        billings=[row.next_billing_at for row in subscriptions],
        steps=[row.next_step_at for row in subscriptions],
    )


def invoice_closed(invoice: Invoice, at: datetime) -> None:
    """Hook of settings.INVOICE_FOLLOWERS: the subscription that waited for the invoice may
    recover."""
    if invoice.subscription_id is not None:
        recover(locked(invoice.subscription_id), at)


def recover(subscription: Subscription, at: datetime) -> None:
    """A subscription that was past due is active again once none of its cycles' invoices is open.
    Its row is locked."""
    if subscription.status != PAST_DUE and not subscription.failed_cycle_count:
        return
    if (
        subscription.status not in (PAST_DUE, ACTIVE)
        or Invoice.objects.filter(subscription=subscription, status=OPEN).exists()
    ):
        return
    if subscription.status == PAST_DUE:
        move(subscription, ACTIVE, "recovered", at, event="updated", failed_cycle_count=0)
        emails.subscription_recovered(subscription, at)
    else:
        subscription.failed_cycle_count = 0
        events.subscription_changed(subscription, "recovered", subscription.status, at, "updated")
    keep(subscription, at)
