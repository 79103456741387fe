"""Names and tones of the statuses of invoices, subscriptions and products."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "invoice": {
        "draft": (QUIET, _("Draft")),
        "open": (INFO, _("Open")),
        "confirming": (WAIT, _("Confirming")),
        "past_due": (BAD, _("Past due")),
        "paid": (GOOD, _("Paid")),
        "void": (QUIET, _("Void")),
        "uncollectible": (BAD, _("Written off")),
    },
    "invoice_change": {
        "open": (INFO, _("Finalized")),
        "paid": (GOOD, _("Paid")),
        "void": (BAD, _("Voided")),
        "uncollectible": (BAD, _("Written off")),
        "sent": (INFO, _("Sent by email")),
        "reminded": (INFO, _("Reminder sent")),
        "payment_counted": (INFO, _("Payment received")),
        "late_payment_counted": (INFO, _("Late payment received")),
        "refunded": (INFO, _("Refunded")),
        "credited": (INFO, _("Credit note created")),
        "credit_note_sent": (INFO, _("Credit note sent by email")),
    },
    "e_invoice_delivery": {
        "queued": (WAIT, _("Waiting")),
        "sending": (WAIT, _("On its way")),
        "delivered": (GOOD, _("Delivered")),
        "refused": (BAD, _("Refused")),
    },
    "credit_line": {
        "overpaid": (GOOD, _("Paid beyond what was owed")),
        "refunded": (QUIET, _("Refunded")),
        "applied": (QUIET, _("Used for an invoice")),
    },
    "subscription_change": {
        "created": (GOOD, _("Started")),
        "trial_ended": (GOOD, _("Trial ended")),
        "updated": (INFO, _("Changed")),
        "cycle_failed": (BAD, _("Payment failed")),
        "recovered": (GOOD, _("Paid in full again")),
        "paused": (WAIT, _("Paused")),
        "resumed": (GOOD, _("Resumed")),
        "cancellation_scheduled": (INFO, _("Cancellation scheduled")),
        "cancellation_cleared": (INFO, _("Cancellation removed")),
        "canceled": (BAD, _("Canceled")),
    },
    "product": {
        "active": (GOOD, _("Active")),
        "inactive": (QUIET, _("Inactive")),
    },
}
