"""Names and tones of the statuses of endpoints and deliveries."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "delivery": {
        "pending": (WAIT, _("Waiting")),
        "attempting": (INFO, _("Sending")),
        "ignored": (QUIET, _("Not sent")),
        "delivering": (INFO, _("Sending")),
        "retrying": (WAIT, _("Retrying")),
        "succeeded": (GOOD, _("Delivered")),
        "delivered": (GOOD, _("Delivered")),
        "failed": (BAD, _("Failed")),
        "exhausted": (BAD, _("Given up")),
    },
    "endpoint": {
        "active": (GOOD, _("Active")),
        "enabled": (GOOD, _("Active")),
        "disabled": (QUIET, _("Disabled")),
        "error": (BAD, _("Disabled after failures")),
    },
}
