"""Names and tones of the statuses of card payments."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "card": {
        "pending": (WAIT, _("Open")),
        "paid": (GOOD, _("Charged")),
        "expired": (QUIET, _("Expired")),
        "failed": (BAD, _("Failed")),
    },
}
