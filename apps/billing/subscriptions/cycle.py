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
from apps.billing.invoices import customer_credit
from apps.billing.invoices.charged import BilledLine, charge, put_lines
from apps.billing.invoices.confirming import (
    awaited_payment,
    look_before_judging,
    next_look,
)
from apps.billing.invoices.lifecycle import finalize_locked
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.models import Invoice, InvoiceSettings, Subscription
from apps.billing.periods import due_at, next_reminder, period_days, period_end
from apps.billing.selectors import period_key, with_parts
from apps.billing.services import emails, vat_checks
from apps.billing.states import (
    ACTIVE,
    CANCELED,
    OPEN,
    PAST_DUE,
    TRIALING,
    CycleStep,
    SubscriptionFacts,
    decide,
    is_beyond_grace,
)
from apps.billing.subscriptions.locking import (
    facts_of,
    keep,
    locked,
    locked_if_free,
    move,
    standing,
    unpaid,
)
from apps.core import clock
from apps.core.rows import Job
from apps.stores.staff.suspensions import (
    PaymentsSuspended,
    Suspension,
    due_after,
    goes_on,
    is_suspended,
)

LOOKS_AT = (Subscription, Invoice)
JOB = Job("billing.run_cycles", limit=500)
READ_AT_ONCE = 50  # so few that what is read is at most a second or two old when it is billed
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
        tried = JOB.each(partial(_read, chunk), advance)
        done += tried
        if tried < len(chunk) or not chunk:
            break
    return done


def _read(ids: list[uuid.UUID]) -> list[Subscription]:
    return list(with_parts(Subscription.objects.filter(pk__in=ids)).order_by("next_step_at"))


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
                due = [
                    moment for moment in (facts.unpaid_due_at, invoice.due_at) if moment is not None
                ]
                return standing(subscription, min(due, default=None))
        case CycleStep.CANCEL:
            end(subscription, at)
        case CycleStep.FAIL:
            _judge(subscription, at)
    return facts_of(subscription)


def bill_next(subscription: Subscription, at: datetime) -> Invoice:
    """Begin the period that starts at `next_billing_at` and invoice it. The row is locked, and kept
    by the caller. Raises PaymentsSuspended: its customer couldn't pay."""
    if is_suspended(subscription.store, Suspension.PAYMENTS):
        raise PaymentsSuspended
    start = subscription.next_billing_at
    price = subscription.price
    if start is None:
        raise RuntimeError(f"subscription {subscription.pk} is not billed")
    close = period_end(
        start,
        price.interval,
        price.interval_count,
        subscription.anchor_day,
        subscription.zone,
    )
    subscription.current_period_start = start
    subscription.current_period_end = close
    subscription.next_billing_at = close
    if subscription.status == TRIALING:
        move(subscription, ACTIVE, "trial_ended", at)
    return _invoice(subscription, at)


def _invoice(subscription: Subscription, at: datetime) -> Invoice:
    """The invoice of the current period, finalized and on its way to the customer."""
    start = subscription.current_period_start
    close = subscription.current_period_end
    priced = [
        (subscription.price, subscription.quantity),
        *((item.price, item.quantity) for item in subscription.add_ons.all()),
    ]
    lines = [
        BilledLine(price.product.name, quantity, price.unit_amount_cents, price=price)
        for price, quantity in priced
    ]
    due = due_at(at, start, close, InvoiceSettings.of(subscription.store).invoice_due_days)
    first, last = period_days(start, close, subscription.zone)
    invoice = Invoice(
        store=subscription.store,
        mode=subscription.mode,
        customer=subscription.customer,
        subscription=subscription,
        period_key=period_key(subscription),
        currency=subscription.price.currency,
        description=f"{first:%Y-%m-%d} to {last:%Y-%m-%d}",
        supplied_from=first,
        supplied_until=last,
        due_at=due,
        time_zone=subscription.time_zone,
        discount_type=subscription.discount_type,
        discount_value=subscription.discount_value,
        tax_rate=subscription.tax_rate,
        created_at=at,
        updated_at=at,
    )
    charged = charge(invoice, lines, at, is_cycle=True)
    if charged.relies_on_number:
        vat_checks.plan_before(subscription.customer, close)
    invoice.next_letter_at = next_reminder(at, due, at) if invoice.total_cents else None
    invoice.save(force_insert=True)
    rows = put_lines(invoice, lines, charged)
    credit_cents = customer_credit.usable_cents(invoice)
    if credit_cents >= invoice.total_cents:
        keep(subscription, at)  # it is paid at once, which looks at the row
    finalize_locked(invoice, at, rows, credit_cents)
    if invoice.status == OPEN:
        emails.invoice_opened(invoice)
    else:
        subscription.refresh_from_db(fields=["status", "failed_cycle_count"])
    return invoice


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
