"""Names and tones of the statuses of payment links."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import GOOD, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "payment_link": {
        "active": (GOOD, _("Active")),
        "sold_out": (WAIT, _("Sold out")),
        "paused": (WAIT, _("Paused")),
        "ended": (QUIET, _("Ended")),
        "archived": (QUIET, _("Archived")),
    },
}
