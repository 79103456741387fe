"""What statuses of onboarding links and requests to be a platform are called, and in which tone."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "access_request": {
        "pending": (WAIT, "Under review"),
        "approved": (GOOD, "Approved"),
        "rejected": (BAD, "Declined"),
    },
    "onboarding_link": {
        "active": (INFO, _("Open")),
        "used": (GOOD, _("Used")),
        "expired": (QUIET, _("Expired")),
    },
    "destination_confirmation": {
        "held": (WAIT, "Contact not emailed yet"),
        "waiting": (WAIT, "Waiting"),
        "usable": (GOOD, "Waiting period over"),
        "confirmed": (GOOD, "Confirmed"),
        "stopped": (BAD, "Stopped"),
    },
}
