"""Names of the statuses of invoices and subscriptions on customers' pages, in their language."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    # the same in the words of the person who is billed
    "hosted_invoice": {
        "open": (INFO, _("Unpaid")),
        "part_paid": (WAIT, _("Partly paid")),
        "confirming": (WAIT, _("Confirming")),
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
