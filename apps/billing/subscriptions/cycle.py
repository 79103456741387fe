"""The cycle: begin a period and bill it, judge what wasn't paid in time, cancel at a period's end.
`decide` says what is due.

Each subscription is brought up to date in its own transaction under its row's lock, step by step in
order, so a job that runs twice, late or beside the test clock bills each period once.
"""

import time
import uuid
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.billing import events
from apps.billing.invoices.confirming import (
    awaited_payment,
    look_before_judging,
    next_look,
)
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.models import Invoice, Subscription
from apps.billing.selectors import parts_of_many
from apps.billing.services import emails
from apps.billing.states import (
    ACTIVE,
    CANCELED,
    OPEN,
    PAST_DUE,
    CycleStep,
    SubscriptionFacts,
    decide,
    is_beyond_grace,
)
from apps.billing.subscriptions.billing import bill_next, bill_together, facts_after
from apps.billing.subscriptions.locking import (
    facts_of,
    keep,
    locked,
    locked_if_free,
    move,
    unpaid,
)
from apps.core import clock
from apps.core.rows import Job
from apps.stores.staff.suspensions import (
    Suspension,
    due_after,
    goes_on,
)

LOOKS_AT = (Subscription, Invoice)
JOB = Job("billing.run_cycles", limit=500)
READ_AT_ONCE = 100  # so few that what is read is at most a second or two old when it is billed
STEPS_MAX = 60
RUN_SECONDS_MAX = 200  # a job has 300
# While nobody can pay, nothing is billed, and nothing judged as unpaid.
_STORE_BILLS = Q(store__deleted_at=None) & goes_on(Suspension.PAYMENTS)


def run_cycles(limit: int = 20 * JOB.limit) -> int:
    """The sweep over every store: bring what is due up to date, the longest due first; how many
    subscriptions there were."""
    look_before_judging()
    rows = Subscription.objects.filter(_STORE_BILLS)
    ahead = JOB.stores_ahead(Subscription)
    due, due_ahead = clock.is_due_apart("next_step_at", rows, clock.real_now(), ahead)
    done = _run(due, limit)
    return done + _run(due_ahead, limit - done)


def _run(is_due: Q, limit: int) -> int:
    done = 0
    began = time.monotonic()
    locked_ids: set[uuid.UUID] = set()  # another worker has them

    def advance(candidate: Subscription) -> None:
        if not _advance_if_free(candidate):
            locked_ids.add(candidate.pk)

    while done < limit and time.monotonic() - began < RUN_SECONDS_MAX / 2:
        due = Subscription.objects.filter(is_due, _STORE_BILLS)
        rows = (
            JOB.ready(due.exclude(pk__in=locked_ids))
            .order_by("next_step_at")
            .values_list("pk", flat=True)
        )
        chunk = list(rows[:READ_AT_ONCE])
        tried = JOB.each(partial(_read, chunk), advance, together=bill_together)
        done += tried
        if tried < len(chunk) or not chunk:
            break
    return done


def _read(ids: list[uuid.UUID]) -> list[Subscription]:
    return parts_of_many(Subscription.objects.filter(pk__in=ids).order_by("next_step_at"))


def _advance_if_free(candidate: Subscription) -> bool:
    """False when another worker has it."""
    subscription = locked_if_free(candidate)
    if subscription is not None:
        _advance(subscription)
    return subscription is not None


def advance_subscription(subscription_id: uuid.UUID) -> None:
    """Bring one up to date."""
    with transaction.atomic():
        _advance(locked(subscription_id))


def _advance(subscription: Subscription) -> None:
    """Everything that is due, in order; what is left after many steps waits for the next run. The
    row is locked."""
    at = clock.now(subscription.store, subscription.mode)
    if subscription.next_step_at is None or subscription.next_step_at > at:
        return
    facts = facts_of(subscription)
    for _ in range(STEPS_MAX):
        step = decide(facts, at)
        if step is None:
            break
        facts = _take(subscription, step, facts, at)
    keep(subscription, at, facts)


def _take(
    subscription: Subscription, step: CycleStep, facts: SubscriptionFacts, at: datetime
) -> SubscriptionFacts:
    """Takes a step, and returns the new state."""
    match step:
        case CycleStep.BILL:
            invoice = bill_next(subscription, at)
            if invoice.status == OPEN:  # nothing but this invoice has come to what is unpaid
                return facts_after(subscription, facts, invoice)
        case CycleStep.CANCEL:
            end(subscription, at)
        case CycleStep.FAIL:
            _judge(subscription, at)
    return facts_of(subscription)


def _judge(subscription: Subscription, at: datetime) -> None:
    """The invoice due first wasn't paid in time, unless what pays it has just completed: its cycle
    has failed. While a payment that covers it is confirming, nobody knows, and it is looked at
    again (decision 541)."""
    invoice = (
        unpaid(subscription)
        .select_for_update(of=("self",))
        .select_related("store", "customer")
        .first()
    )
    if invoice is None:
        return
    due = invoice.due_at or at
    payment = awaited_payment(invoice, due, at)
    if invoice.status != OPEN:
        subscription.refresh_from_db(fields=["status", "failed_cycle_count"])
        return
    again = next_look(due, payment, at) if payment is not None else _after_suspension(invoice, due)
    if again is not None and (payment is not None or again > at):
        Invoice.objects.filter(pk=invoice.pk).update(due_waits_until=again)
        return
    Invoice.objects.filter(pk=invoice.pk).update(due_judged_at=at)
    subscription.failed_cycle_count = subscription.failed_cycle_count + 1
    subscription.updated_at = at
    if subscription.status == ACTIVE:
        move(subscription, PAST_DUE, "cycle_failed", at, event="past_due")
    else:
        events.subscription_changed(subscription, "cycle_failed", subscription.status, at)
    if is_beyond_grace(subscription.failed_cycle_count, subscription.grace_cycles):
        end(subscription, at)
    else:
        emails.subscription_past_due(subscription, invoice)


def _after_suspension(invoice: Invoice, due: datetime) -> datetime | None:
    """When it is judged that was due while nobody could pay it; None if it was due at another
    time."""
    ahead = clock.offset(invoice.store, invoice.mode)
    begin = invoice.created_at - ahead
    until = due_after(invoice.store, Suspension.PAYMENTS, begin, due - ahead)
    return None if until is None else until + ahead


def end(subscription: Subscription, at: datetime) -> None:
    """Canceled for good. The row is locked, and kept by the caller."""
    move(
        subscription,
        CANCELED,
        "canceled",
        at,
        event="canceled",
        canceled_at=at,
        next_billing_at=None,
    )
    emails.subscription_canceled(subscription, at)


def next_due(store_id: uuid.UUID, after: datetime | None) -> datetime | None:
    """Next step of time for one of the store's test subscriptions."""
    rows = _of_store(store_id)
    if after is not None:
        rows = rows.filter(next_step_at__gt=after)
    return rows.order_by("next_step_at").values_list("next_step_at", flat=True).first()


def run_due(store_id: uuid.UUID, now: datetime) -> None:
    """Counts payments before this moment first."""
    update_paid_amounts(store_id=store_id)
    due = _of_store(store_id).filter(next_step_at__lte=now).order_by("next_step_at")
    for subscription_id in list(due.values_list("pk", flat=True)):
        advance_subscription(subscription_id)


def _of_store(store_id: uuid.UUID) -> "QuerySet[Subscription]":
    rows = Subscription.objects.filter(_STORE_BILLS, store_id=store_id, mode="test")
    return rows.filter(next_step_at__isnull=False)
