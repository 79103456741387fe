"""What statuses of verifications and staff requests are called, and in which tone."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
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
}
