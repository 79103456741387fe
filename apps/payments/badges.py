"""Names and tones of the statuses of payments, refunds, withdrawals and histories."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "payment": {
        "pending": (WAIT, _("Awaiting payment")),
        "processing": (INFO, _("Processing")),
        "completed": (GOOD, _("Completed")),
        "expired": (QUIET, _("Expired")),
        "failed": (BAD, _("Failed")),
        "refunded": (QUIET, _("Refunded")),
        "partially_refunded": (QUIET, _("Partially refunded")),
        "refund_under_way": (INFO, _("Refund in progress")),
    },
    "reason": {
        "pending_confirmations": (INFO, _("Waiting for confirmations")),
        "processing_underpaid": (WAIT, _("Partially paid")),
        "completed_exact": (GOOD, _("Paid in full")),
        "completed_overpaid": (GOOD, _("Overpaid")),
        "completed_underpaid": (WAIT, _("Underpaid, accepted")),
        "failed_overpaid": (BAD, _("Overpaid, not accepted")),
        "failed_underpaid": (BAD, _("Underpaid, not accepted")),
        "expired_timeout": (QUIET, _("Nothing arrived in time")),
        "canceled_by_agent": (QUIET, _("Canceled")),
        "refund_completed": (QUIET, _("Refunded")),
    },
    # what a payment's timeline tells; the names are those of its events
    "payment_event": {
        "payment_intent.created": (QUIET, _("Payment created")),
        "payment_intent.processing": (INFO, _("Payment received, awaiting confirmation")),
        "payment_intent.underpaid_detected": (WAIT, _("Partially paid")),
        "payment_intent.completed": (GOOD, _("Payment completed")),
        "payment_intent.failed": (BAD, _("Payment failed")),
        "payment_intent.expired": (QUIET, _("Payment expired")),
        "payment_intent.canceled": (QUIET, _("Payment canceled")),
        "payment_intent.refunded": (QUIET, _("Payment refunded")),
        "transaction.confirming": (INFO, _("Deposit seen on the chain")),
        "transaction.confirmed": (GOOD, _("Deposit confirmed")),
        "transaction.failed": (BAD, _("Deposit failed or left the chain")),
        "late_deposit.accepted": (GOOD, _("Deposit accepted")),
        "payment.coins_lost": (BAD, _("Coins sent to a token’s contract")),
        "payment.shortfall_accepted": (GOOD, _("Shortfall accepted")),
        "payment.extended": (QUIET, _("More time given")),
    },
    "attention": {
        "card_refund": (BAD, _("Action required")),
        "dust_refund": (WAIT, _("Action required")),
        "held_refund": (WAIT, _("Action required")),
        "own_refund": (WAIT, _("Action required")),
    },
    "withdrawal": {
        "requested": (WAIT, "Waiting for approval"),
        "approved": (INFO, "Approved"),
        "confirmed": (GOOD, "Confirmed"),
        "rejected": (QUIET, "Rejected"),
        "failed": (BAD, "Failed"),
    },
    "refund": {
        "pending": (WAIT, _("Waiting to be sent")),
        "submitted": (INFO, _("Sent, not yet confirmed")),
        "confirmed": (GOOD, _("Refunded")),
        "failed": (BAD, _("Failed")),
    },
}
