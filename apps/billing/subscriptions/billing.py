"""The period that begins, and its invoice: of one subscription, or of many together.

What can be billed together is what most are: live, not changed since it was read, with one period
due and no credit. The others take the steps of the cycle one by one.
"""

import uuid
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime

from apps.billing.invoices import customer_credit
from apps.billing.invoices.charged import (
    BilledLine,
    Charged,
    charge,
    put_lines,
    put_lines_of_many,
)
from apps.billing.invoices.lifecycle import (
    columns_of_issue,
    finalize_locked,
    finalize_together,
)
from apps.billing.models import Invoice, InvoiceSettings, Subscription
from apps.billing.periods import due_at, next_reminder, period_days, period_end
from apps.billing.selectors import period_key
from apps.billing.services import emails, vat_checks
from apps.billing.states import (
    ACTIVE,
    OPEN,
    TRIALING,
    CycleStep,
    SubscriptionFacts,
    decide,
    upcoming,
)
from apps.billing.subscriptions.locking import (
    facts_of_many,
    keep,
    keep_periods,
    locked_unchanged,
    move,
    standing,
)
from apps.billing.taxes.choosing import SellerRecords
from apps.core import clock
from apps.core.models import Mode
from apps.stores.models import Store
from apps.stores.staff.suspensions import PaymentsSuspended, Suspension, is_suspended


@dataclass(frozen=True)
class _Bill:
    """An invoice that isn't saved, and what it is made of."""

    subscription: Subscription
    invoice: Invoice
    lines: Sequence[BilledLine]
    charged: Charged
    seller: SellerRecords


@dataclass(frozen=True)
class _Biller:
    """A store's records, read once for all that is billed together."""

    due_days: int
    records: SellerRecords

    @classmethod
    def of(cls, store: Store, mode: str) -> "_Biller":
        return cls(InvoiceSettings.of(store).invoice_due_days, SellerRecords.of(store, mode))


def bill_next(subscription: Subscription, at: datetime) -> Invoice:
    """Begin the period that starts at `next_billing_at` and invoice it. The row is locked, and kept
    by the caller. Raises PaymentsSuspended: its customer couldn't pay."""
    if is_suspended(subscription.store, Suspension.PAYMENTS):
        raise PaymentsSuspended
    _begin_period(subscription)
    if subscription.status == TRIALING:
        move(subscription, ACTIVE, "trial_ended", at)
    return _invoice(subscription, at)


def _begin_period(subscription: Subscription) -> None:
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


def _invoice(subscription: Subscription, at: datetime) -> Invoice:
    """The invoice of the current period, finalized and on its way to the customer."""
    bill = _draw_up(subscription, at, _Biller.of(subscription.store, subscription.mode))
    _plan_check(bill)
    invoice = bill.invoice
    invoice.save(force_insert=True)
    parts = put_lines(invoice, bill.lines, bill.charged)
    credit_cents = customer_credit.usable_cents(invoice)
    if credit_cents >= invoice.total_cents:
        keep(subscription, at)  # it is paid at once, which looks at the row
    finalize_locked(invoice, at, parts, credit_cents)
    if invoice.status == OPEN:
        emails.invoice_opened(invoice)
    else:
        subscription.refresh_from_db(fields=["status", "failed_cycle_count"])
    return invoice


def _draw_up(subscription: Subscription, at: datetime, biller: _Biller) -> _Bill:
    """The invoice of the current period, not saved."""
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
    due = due_at(at, start, close, biller.due_days)
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
    charged = charge(invoice, lines, at, is_cycle=True, seller=biller.records)
    invoice.next_letter_at = next_reminder(at, due, at) if invoice.total_cents else None
    return _Bill(subscription, invoice, lines, charged, biller.records)


def _plan_check(bill: _Bill) -> None:
    if bill.charged.relies_on_number:
        vat_checks.plan_before(bill.subscription.customer, bill.subscription.current_period_end)


def bill_together(candidates: Sequence[Subscription]) -> list[Subscription]:
    """Bills those of just read subscriptions that can be billed together, and returns the others,
    as they were read. In a transaction, which is to be rolled back when it raises."""
    at = clock.real_now()
    live = [row for row in candidates if row.mode == Mode.LIVE]
    bills = _drawn_up(locked_unchanged(live), at) if live else []
    with_credit = customer_credit.with_balance([bill.invoice for bill in bills])
    bills = [bill for bill in bills if bill.invoice.customer_id not in with_credit]
    if bills:
        _finish(bills, at)
    billed = {bill.subscription.pk for bill in bills}
    return [row for row in candidates if row.pk not in billed]


def _drawn_up(rows: Sequence[Subscription], at: datetime) -> list[_Bill]:
    """Invoices of locked rows of which one period is due and nothing else."""
    facts = facts_of_many(rows)
    billers: dict[uuid.UUID, _Biller | None] = {}
    bills = []
    for row in rows:
        if row.store_id not in billers:
            is_open = not is_suspended(row.store, Suspension.PAYMENTS)
            billers[row.store_id] = _Biller.of(row.store, row.mode) if is_open else None
        biller = billers[row.store_id]
        is_plain = row.status != TRIALING and decide(facts[row.pk], at) == CycleStep.BILL
        if biller is None or not is_plain:
            continue
        subscription = copy(row)  # the caller's stays as it was read
        _begin_period(subscription)
        bill = _draw_up(subscription, at, biller)
        subscription.updated_at = at
        step = upcoming(facts_after(subscription, facts[row.pk], bill.invoice))
        subscription.next_step_at = step[0] if step is not None else None
        if bill.invoice.total_cents and (step is None or step[0] > at):
            bills.append(bill)
    return bills


def facts_after(
    subscription: Subscription, before: SubscriptionFacts, invoice: Invoice
) -> SubscriptionFacts:
    """State of a subscription with another open invoice: nothing else has come to what is
    unpaid."""
    due = [moment for moment in (before.unpaid_due_at, invoice.due_at) if moment is not None]
    return standing(subscription, min(due, default=None))


def _finish(bills: Sequence[_Bill], at: datetime) -> None:
    """Save and finalize the invoices, and keep their subscriptions."""
    for bill in sorted(bills, key=lambda bill: bill.invoice.customer_id):
        _plan_check(bill)
    bills = sorted(bills, key=lambda bill: bill.invoice.store_id)
    invoices = [bill.invoice for bill in bills]
    for bill in bills:
        for name, value in columns_of_issue(bill.invoice, at, bill.seller).items():
            setattr(bill.invoice, name, value)
    Invoice.objects.bulk_create(invoices)
    parts = put_lines_of_many([(bill.invoice, bill.lines, bill.charged) for bill in bills])
    finalize_together(invoices, parts, at)
    emails.live_invoices_opened(invoices)
    keep_periods([bill.subscription for bill in bills], at)
