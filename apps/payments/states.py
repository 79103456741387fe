"""The whole transition table of a payment intent, and `decide`: all the ifs, pure.

Paid amounts are fractions of what is required, each asset counted at its own locked rate, so
nothing depends on order.
"""

from dataclasses import dataclass
from fractions import Fraction

from apps.core.machine import Machine, Step
from apps.payments.models import Payment, Refund, TransferReturn, Withdrawal

PENDING = Payment.Status.PENDING.value
PROCESSING = Payment.Status.PROCESSING.value
COMPLETED = Payment.Status.COMPLETED.value
EXPIRED = Payment.Status.EXPIRED.value
FAILED = Payment.Status.FAILED.value
REFUNDED = Payment.Status.REFUNDED.value

# In the history only: the merchant took less than was due. The status of a rejected one stays.
SHORTFALL_ACCEPTED = "payment.shortfall_accepted"


@dataclass(frozen=True)
class PaymentDecision(Step):
    """The next step of an intent; `event` is its public name, None when the table has none."""

    reason: str | None
    event: str | None = None


MACHINE = Machine[Payment, PaymentDecision](
    {
        PENDING: {PROCESSING, EXPIRED},
        PROCESSING: {PROCESSING, COMPLETED, FAILED, EXPIRED},
        COMPLETED: {COMPLETED, REFUNDED},
        FAILED: {REFUNDED},
        EXPIRED: {REFUNDED},
        REFUNDED: (),
    }
)
# A refund's history is that of its payment and of the books.
REFUND_MACHINE = Machine[Refund, Step](
    {
        "pending": {"submitted", "confirmed", "failed"},
        "submitted": {"confirmed", "failed"},
        "confirmed": (),
        "failed": (),
    },
    has_history=False,
)
RETURN_MACHINE = Machine[TransferReturn, Step](REFUND_MACHINE.moves, has_history=False)
# Who decided what about one is in the audit log.
WITHDRAWAL_MACHINE = Machine[Withdrawal, Step](
    {
        "requested": {"approved", "rejected"},
        "approved": {"confirmed", "failed"},
        "confirmed": (),
        "rejected": (),
        "failed": (),
    },
    has_history=False,
)
TERMINAL = frozenset({COMPLETED, EXPIRED, FAILED, REFUNDED})
REFUNDABLE = frozenset({COMPLETED, FAILED, EXPIRED})
# On these a deposit changes no status: it is a late one.
CLOSED = frozenset({EXPIRED, FAILED, REFUNDED})

PENDING_CONFIRMATIONS = "pending_confirmations"
PROCESSING_UNDERPAID = "processing_underpaid"
COMPLETED_EXACT = "completed_exact"
COMPLETED_OVERPAID = "completed_overpaid"
COMPLETED_UNDERPAID = "completed_underpaid"
FAILED_OVERPAID = "failed_overpaid"
FAILED_UNDERPAID = "failed_underpaid"
EXPIRED_TIMEOUT = "expired_timeout"
CANCELED_BY_AGENT = "canceled_by_agent"
REFUND_COMPLETED = "refund_completed"

CREATED_EVENT = "payment_intent.created"
UNDERPAID_EVENT = "payment_intent.underpaid_detected"
CANCELED_EVENT = "payment_intent.canceled"
EVENTS = {
    PROCESSING: "payment_intent.processing",
    COMPLETED: "payment_intent.completed",
    FAILED: "payment_intent.failed",
    EXPIRED: "payment_intent.expired",
    REFUNDED: "payment_intent.refunded",
}


@dataclass(frozen=True)
class PaymentProgress:
    """Received amounts as fractions of the required ones, and the store's decisions about too
    little and too much."""

    confirmed: Fraction
    unconfirmed: Fraction
    is_past_deadline: bool
    accepts_overpayments: bool
    accepts_underpayments: bool
    underpayment_tolerance: Fraction
    overpayment_tolerance: Fraction
    # One step of the places that each coin paid with is shown with: nobody can pay more exactly.
    display_step: Fraction = Fraction(0)
    is_held_open: bool = False  # a funding session is in progress
    is_under_review: bool = False  # an asset that was received has been stopped for review

    @property
    def seen(self) -> Fraction:
        return self.confirmed + self.unconfirmed

    def is_enough(self, paid: Fraction) -> bool:
        return paid >= 1 - self.underpayment_tolerance and paid > 0

    def is_too_much(self, paid: Fraction) -> bool:
        excess = paid - 1
        return excess > self.overpayment_tolerance and excess >= self.display_step


def decide(
    status: str, reason: str | None, facts: PaymentProgress, *, is_underpaid_noted: bool = False
) -> PaymentDecision | None:
    """The one next step from here, None when the intent stays as it is."""
    step: PaymentDecision | None = None
    if status == PENDING:
        step = _from_pending(facts)
    elif status == PROCESSING:
        step = _from_processing(facts, is_underpaid_noted)
    elif status == COMPLETED and facts.is_too_much(facts.confirmed):
        step = PaymentDecision(COMPLETED, COMPLETED_OVERPAID)
    if (
        step is not None
        and step.status == COMPLETED
        and status != COMPLETED
        and facts.is_under_review
    ):
        step = PaymentDecision(PROCESSING, PENDING_CONFIRMATIONS)
    if step is None or (step.status, step.reason, step.event) == (status, reason, None):
        return None
    return step


def _from_pending(facts: PaymentProgress) -> PaymentDecision | None:
    if facts.seen:
        reason = PENDING_CONFIRMATIONS if facts.is_enough(facts.seen) else PROCESSING_UNDERPAID
        return PaymentDecision(PROCESSING, reason, EVENTS[PROCESSING])
    if facts.is_past_deadline and not facts.is_held_open:
        return PaymentDecision(EXPIRED, EXPIRED_TIMEOUT, EVENTS[EXPIRED])
    return None


def _from_processing(facts: PaymentProgress, is_underpaid_noted: bool) -> PaymentDecision:
    if facts.is_enough(facts.confirmed):
        return _enough_confirmed(facts)
    if facts.is_enough(facts.seen):
        return PaymentDecision(PROCESSING, PENDING_CONFIRMATIONS)
    if facts.is_past_deadline and not facts.unconfirmed and not facts.is_held_open:
        return _short_at_deadline(facts)
    if not facts.seen:
        # What had come has left the chain; its transaction is usually mined again.
        return PaymentDecision(PROCESSING, PENDING_CONFIRMATIONS)
    return PaymentDecision(
        PROCESSING, PROCESSING_UNDERPAID, None if is_underpaid_noted else UNDERPAID_EVENT
    )


def _enough_confirmed(facts: PaymentProgress) -> PaymentDecision:
    waits_for_rest = (
        facts.unconfirmed and facts.is_too_much(facts.seen) and not facts.accepts_overpayments
    )
    if waits_for_rest and not facts.is_too_much(facts.confirmed):
        return PaymentDecision(PROCESSING, PENDING_CONFIRMATIONS)
    if not facts.is_too_much(facts.confirmed):
        return PaymentDecision(COMPLETED, COMPLETED_EXACT, EVENTS[COMPLETED])
    if facts.accepts_overpayments:
        return PaymentDecision(COMPLETED, COMPLETED_OVERPAID, EVENTS[COMPLETED])
    return PaymentDecision(FAILED, FAILED_OVERPAID, EVENTS[FAILED])


def _short_at_deadline(facts: PaymentProgress) -> PaymentDecision:
    if not facts.confirmed:
        return PaymentDecision(EXPIRED, EXPIRED_TIMEOUT, EVENTS[EXPIRED])
    if facts.accepts_underpayments:
        return PaymentDecision(COMPLETED, COMPLETED_UNDERPAID, EVENTS[COMPLETED])
    return PaymentDecision(FAILED, FAILED_UNDERPAID, EVENTS[FAILED])
