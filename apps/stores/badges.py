"""Names and tones of the statuses of verifications and staff requests."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "store": {
        "open": (GOOD, _("Open")),
        "suspended": (BAD, _("Suspended")),
        "closed": (QUIET, _("Closed")),
        "on": (GOOD, _("On")),
        "off": (QUIET, _("Off")),
    },
    "verification": {
        "not_started": (QUIET, _("Not started")),
        "pending": (WAIT, _("Under review")),
        "approved": (GOOD, _("Verified")),
        "rejected": (BAD, _("Declined")),
    },
    "staff_request": {
        "pending": (WAIT, _("Pending")),
        "approved": (GOOD, _("Approved")),
        "rejected": (BAD, _("Rejected")),
        "withdrawn": (QUIET, _("Withdrawn")),
        "expired": (QUIET, _("Expired")),
    },
    "worker_order": {
        "waiting": (WAIT, _("Pending")),
        "stopped": (QUIET, _("Canceled")),
        "done": (GOOD, _("Completed")),
        "refused": (BAD, _("Failed")),
    },
}
