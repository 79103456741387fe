"""What statuses are called on customers' pages, in their language; the rest stands in badges.py."""

from django.utils.translation import gettext_lazy as _

from apps.core.tones import BAD, GOOD, INFO, QUIET, WAIT

# noun -> status -> (tone, words)
CUSTOMER_BADGES = {
    "component": {
        "operational": (GOOD, _("Operational")),
        "delayed": (WAIT, _("Delayed")),
        "paused": (WAIT, _("Paused")),
        "down": (BAD, _("Outage")),
        "unknown": (QUIET, _("Unknown")),
    },
    "deposit": {
        "pending": (WAIT, _("Seen")),
        "confirming": (WAIT, _("Confirming")),
        "confirmed": (GOOD, _("Confirmed")),
        "submitted": (WAIT, _("Sent")),
        "failed": (BAD, _("Failed")),
        "unmatched": (BAD, _("Unmatched")),
    },
    # the same in the words of whoever is billed
    "hosted_invoice": {
        "open": (INFO, _("Unpaid")),
        "part_paid": (WAIT, _("Partly paid")),
        "past_due": (BAD, _("Past due")),
        "paid": (GOOD, _("Paid")),
        "void": (QUIET, _("Canceled")),
        "uncollectible": (QUIET, _("Closed")),
    },
    "subscription": {
        "trialing": (INFO, _("On trial")),
        "active": (GOOD, _("Active")),
        "past_due": (BAD, _("Past due")),
        "paused": (WAIT, _("Paused")),
        "canceled": (QUIET, _("Canceled")),
    },
}
