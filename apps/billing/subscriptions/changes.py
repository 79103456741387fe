"""Changes of a subscription by a caller: begin, change, pause, resume and cancel. What time does is
in `cycle`.

Swaps count from the next cycle on. What changes nothing has no event.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.access.access import Access
from apps.billing import events
from apps.billing.invoices.totals import check_discount
from apps.billing.models import Invoice, Subscription
from apps.billing.periods import MONTHS, period_end, trial_end
from apps.billing.requests import SubscriptionChanges, SubscriptionRequest
from apps.billing.services import audit_lines
from apps.billing.services.references import named_customer, named_rate
from apps.billing.states import ACTIVE, CANCELED, OPEN, PAUSED, SUBSCRIPTION_MACHINE, TRIALING
from apps.billing.subscriptions.billing import bill_next
from apps.billing.subscriptions.cycle import end
from apps.billing.subscriptions.items import (
    SubscriptionLine,
    changed_lines,
    current_lines,
    put_lines,
    requested_lines,
)
from apps.billing.subscriptions.locking import keep, locked, move
from apps.billing.taxes.choosing import LineSource, SaleParties, choose
from apps.core.errors import Failure
from apps.core.idempotency import once_per_form
from apps.core.text.days import zone_named
from apps.core.text.wording import Worded


class SubscriptionCanceled(Failure):
    message = "Cannot change a canceled subscription"


class CannotMove(Failure):
    """From one state to another that the table doesn't have."""

    def __init__(self, before: str, to: str) -> None:
        super().__init__(
            Worded("Cannot move subscription from {before} to {to}", before=before, to=to)
        )


class CannotSchedule(Failure):
    """Only one that is trialing or active ends with its period."""

    def __init__(self, state: str) -> None:
        super().__init__(
            Worded("Cannot schedule cancellation of a {state} subscription", state=state)
        )


def create_subscription(
    access: Access, request: SubscriptionRequest, *, form_key: str | None = None
) -> Subscription:
    """Active with its first invoice, or trialing. Raises Invalid, or a customer's or price's
    refusal."""
    at = access.now()
    customer = named_customer(access, request.customer_id)
    lines = requested_lines(access, request)
    anchor = lines[0]
    days = request.trial_period_days
    begin = trial_end(at, days)
    zone = zone_named(access.store.time_zone)
    check_discount(request.discount_type, request.discount_value)
    subscription = Subscription(
        store=access.store,
        mode=access.mode,
        customer=customer,
        price=anchor.price,
        quantity=anchor.quantity,
        status=TRIALING if days else ACTIVE,
        started_at=at,
        anchor_day=begin.astimezone(zone).day,
        time_zone=access.store.time_zone,
        current_period_start=at,
        current_period_end=begin
        if days
        else period_end(
            at,
            anchor.price.interval,
            anchor.price.interval_count,
            at.astimezone(zone).day,
            zone,
        ),
        next_billing_at=begin,
        trial_end=begin if days else None,
        grace_cycles=request.grace_cycles,
        tax_rate=named_rate(access, request.tax_rate_id),
        discount_type=request.discount_type,
        discount_value=request.discount_value,
        metadata=request.metadata,
        created_at=at,
        updated_at=at,
        form_key=form_key,
    )
    _check_taxes(subscription, lines, at)
    return once_per_form(
        Subscription.objects.visible_to(access), form_key, lambda: _begun(subscription, lines, at)
    )


def _check_taxes(
    subscription: Subscription, lines: Sequence[SubscriptionLine], at: datetime
) -> None:
    """Raises Invalid for a buyer who may not be charged by the rates that would count now: in a
    cycle, which nobody looks at, they would be passed over."""
    day = at.astimezone(subscription.zone).date()
    parties = SaleParties(subscription.store, subscription.mode, subscription.customer, day)
    choose(parties, [LineSource(price=line.price) for line in lines], subscription.tax_rate)


@transaction.atomic
def _begun(subscription: Subscription, lines: list[SubscriptionLine], at: datetime) -> Subscription:
    """Its row with its items, billed at once unless it has a trial."""
    subscription.save(force_insert=True)
    put_lines(subscription, lines)
    subscription = locked(subscription.pk)
    events.subscription_changed(subscription, "created", None, at, "created")
    audit_lines.note("subscription.created", subscription)
    if subscription.status == ACTIVE:
        bill_next(subscription, at)
    keep(subscription, at)
    return subscription


def update_subscription(
    access: Access, subscription: Subscription, request: SubscriptionChanges
) -> Subscription:
    """Raises SubscriptionCanceled, Invalid or a price's refusal."""
    with transaction.atomic():
        row = _changeable(subscription)
        at = access.now()
        lines = changed_lines(access, row, request)
        fields = request.sent()
        changes: dict[str, object] = {
            name: fields[name]
            for name in ("grace_cycles", "metadata", "discount_type", "discount_value")
            if name in fields and fields[name] != getattr(row, name)
        }
        if "tax_rate_id" in fields:
            rate = named_rate(access, fields["tax_rate_id"], is_in_use=row.tax_rate)
            if rate != row.tax_rate:
                changes["tax_rate"] = rate
        if lines is None and not changes:
            return row
        for name, value in changes.items():
            setattr(row, name, value)
        check_discount(row.discount_type, row.discount_value)
        if lines is not None or "tax_rate" in changes:
            _check_taxes(row, lines or current_lines(row), at)
        if lines is not None:
            _swap(row, lines)
        keep(row, at)
        row = locked(row.pk)
        events.subscription_changed(row, "updated", row.status, at, "updated")
        audit_lines.note(
            "subscription.changed",
            row,
            {"fields": sorted([*changes, *([] if lines is None else ["items"])])},
        )
        return row


def _swap(row: Subscription, lines: list[SubscriptionLine]) -> None:
    """Other prices from the next cycle on; one that begins to count in months does so from its
    day."""
    anchor = lines[0]
    if anchor.price.interval in MONTHS and row.price.interval not in MONTHS:
        row.anchor_day = row.current_period_end.astimezone(row.zone).day
    row.price = anchor.price
    row.quantity = anchor.quantity
    put_lines(row, lines)


def _changeable(subscription: Subscription) -> Subscription:
    row = locked(subscription.pk)
    check_changeable(row)
    return row


def check_changeable(subscription: Subscription) -> None:
    """Raises SubscriptionCanceled. A view asks before it reads what to change: the contract tells
    it first."""
    if subscription.status == CANCELED:
        raise SubscriptionCanceled


def _check_move(row: Subscription, to: str) -> None:
    if to not in SUBSCRIPTION_MACHINE.moves[row.status]:
        raise CannotMove(row.status, to)


def cancel_subscription(
    access: Access, subscription: Subscription, *, at_period_end: bool
) -> Subscription:
    """Now, or when the period ends. A canceled one stays as it is. Raises CannotSchedule."""
    with transaction.atomic():
        row = locked(subscription.pk)
        at = access.now()
        if row.status == CANCELED:
            return row
        if not at_period_end:
            cancel_locked(row, at)
            audit_lines.note("subscription.canceled", row)
            return row
        if row.status not in (TRIALING, ACTIVE):
            raise CannotSchedule(row.status)
        if not row.cancel_at_period_end:
            row.cancel_at_period_end, row.cancel_at = True, row.current_period_end
            keep(row, at)
            events.subscription_changed(row, "cancellation_scheduled", row.status, at, "updated")
            audit_lines.note("subscription.cancellation_scheduled", row)
        return row


def cancel_locked(row: Subscription, at: datetime) -> None:
    """End it now."""
    end(row, at)
    keep(row, at)


def uncancel_subscription(access: Access, subscription: Subscription) -> Subscription:
    """Take a scheduled cancellation back; without one, and when canceled, it stays as it is."""
    with transaction.atomic():
        row = locked(subscription.pk)
        at = access.now()
        if row.status != CANCELED and row.cancel_at_period_end:
            row.cancel_at_period_end = False
            row.cancel_at = None
            keep(row, at)
            events.subscription_changed(row, "cancellation_cleared", row.status, at, "updated")
            audit_lines.note("subscription.cancellation_cleared", row)
        return row


def pause_subscription(access: Access, subscription: Subscription) -> Subscription:
    """Billing stops. Raises SubscriptionCanceled or CannotMove."""
    with transaction.atomic():
        row = _changeable(subscription)
        at = access.now()
        _check_move(row, PAUSED)
        move(row, PAUSED, "paused", at, event="updated", paused_at=at, next_billing_at=None)
        keep(row, at)
        audit_lines.note("subscription.paused", row)
        return row


def resume_subscription(access: Access, subscription: Subscription) -> Subscription:
    """A new period begins now and is billed; what fell due in the pause counts as no failure.
    Raises SubscriptionCanceled or CannotMove."""
    with transaction.atomic():
        row = _changeable(subscription)
        at = access.now()
        if row.status != PAUSED:
            raise CannotMove(row.status, ACTIVE)
        row.next_billing_at = at
        row.anchor_day = at.astimezone(row.zone).day
        Invoice.objects.filter(
            subscription=row, status=OPEN, due_judged_at=None, due_at__lte=at
        ).update(due_judged_at=at)
        bill_next(row, at)
        if row.cancel_at_period_end:
            row.cancel_at = row.current_period_end
        move(row, ACTIVE, "resumed", at, event="updated", paused_at=None, failed_cycle_count=0)
        keep(row, at)
        audit_lines.note("subscription.resumed", row)
        return row
