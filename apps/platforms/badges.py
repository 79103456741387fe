"""Names and tones of the statuses of onboarding links and requests to be a platform."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "access_request": {
        "pending": (WAIT, _("Under review")),
        "approved": (GOOD, _("Approved")),
        "rejected": (BAD, _("Declined")),
    },
    "onboarding_link": {
        "active": (INFO, _("Open")),
        "used": (GOOD, _("Used")),
        "expired": (QUIET, _("Expired")),
    },
    "destination_confirmation": {
        "held": (WAIT, _("Contact not emailed yet")),
        "waiting": (WAIT, _("Waiting")),
        "usable": (GOOD, _("Waiting period over")),
        "confirmed": (GOOD, _("Confirmed")),
        "stopped": (BAD, _("Stopped")),
    },
}
