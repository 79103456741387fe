"""The moves of invoices and subscriptions, and `decide`: what time does to a subscription next,
pure.

Steps come in the order of their moments; at one moment a failed cycle is judged before the next one
is billed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from apps.billing.models import EInvoiceDelivery, Invoice, InvoiceParts, Subscription
from apps.core.machine import Machine
from apps.core.machine import Step as Move

DRAFT = "draft"
OPEN = "open"
PAID = "paid"
VOID = "void"
UNCOLLECTIBLE = "uncollectible"
TRIALING = "trialing"
ACTIVE = "active"
PAST_DUE = "past_due"
PAUSED = "paused"
CANCELED = "canceled"
PAID_UNCOLLECTIBLE = "paid_uncollectible"
OVERPAID = "overpaid"  # more than its total came, by several payments, and wasn't given back


@dataclass(frozen=True)
class InvoiceMove(Move):
    """`parts` by the invoice's ID when they are at hand: the event shows them."""

    parts: Mapping[UUID, InvoiceParts] = field(default_factory=dict)


@dataclass(frozen=True)
class SubscriptionMove(Move):
    """`change` is what its history calls it; `event` the last part of the public name, None when
    nobody is notified."""

    change: str
    event: str | None = None


INVOICE_MACHINE = Machine[Invoice, InvoiceMove](
    {
        DRAFT: {OPEN, VOID},
        OPEN: {PAID, VOID, UNCOLLECTIBLE},
        PAID: (),
        VOID: (),
        UNCOLLECTIBLE: (),
    }
)
SUBSCRIPTION_MACHINE = Machine[Subscription, SubscriptionMove](
    {
        TRIALING: {ACTIVE, CANCELED},
        ACTIVE: {PAST_DUE, PAUSED, CANCELED},
        PAST_DUE: {ACTIVE, CANCELED},
        PAUSED: {ACTIVE, CANCELED},
        CANCELED: (),
    }
)

_Delivery = EInvoiceDelivery.Status
# The row is the whole story of a delivery: another attempt after a refusal is another row.
DELIVERY_MACHINE = Machine[EInvoiceDelivery, Move](
    {
        _Delivery.QUEUED: {_Delivery.SENDING},
        _Delivery.SENDING: {_Delivery.SENDING, _Delivery.DELIVERED, _Delivery.REFUSED},
        _Delivery.DELIVERED: (),
        _Delivery.REFUSED: (),
    },
    has_history=False,
)

INVOICE_EVENTS = {OPEN: "invoice.finalized", PAID: "invoice.paid", VOID: "invoice.voided"}


class CycleStep(StrEnum):
    """A step of a subscription's cycle."""

    CANCEL = "cancel"  # a cancellation that was scheduled for now
    BILL = "bill"  # the next period begins and is invoiced; a trial ends with it
    FAIL = "fail"  # an invoice of a cycle wasn't paid when it was due


@dataclass(frozen=True)
class SubscriptionFacts:
    """State of a subscription. `unpaid_due_at` is the earliest due time of its open invoices that
    nobody has judged."""

    status: str
    next_billing_at: datetime | None
    cancel_at: datetime | None
    unpaid_due_at: datetime | None


def upcoming(facts: SubscriptionFacts) -> tuple[datetime, CycleStep] | None:
    """The next step with its moment, None when time does nothing to it."""
    return next(iter(ahead(facts)), None)


def ahead(facts: SubscriptionFacts) -> list[tuple[datetime, CycleStep]]:
    """The steps that are known now, each with its moment, the next one first."""
    if facts.status == CANCELED:
        return []
    waiting = [
        (moment, order, step)
        for order, (moment, step) in enumerate(_waiting(facts))
        if moment is not None
    ]
    return [(moment, step) for moment, _, step in sorted(waiting)]


def _waiting(facts: SubscriptionFacts) -> list[tuple[datetime | None, CycleStep]]:
    """In the order that holds when two fall on one moment."""
    is_billed = facts.status != PAUSED and facts.cancel_at is None
    return [
        (facts.unpaid_due_at if facts.status in (ACTIVE, PAST_DUE) else None, CycleStep.FAIL),
        (facts.cancel_at, CycleStep.CANCEL),
        (facts.next_billing_at if is_billed else None, CycleStep.BILL),
    ]


def decide(facts: SubscriptionFacts, now: datetime) -> CycleStep | None:
    """The one step that is due now, None when there is none."""
    step = upcoming(facts)
    return step[1] if step is not None and step[0] <= now else None


def is_beyond_grace(failed_cycle_count: int, grace_cycles: int) -> bool:
    return failed_cycle_count > grace_cycles
