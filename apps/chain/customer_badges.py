"""Names of the statuses of deposits on customers' pages, in their language."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "deposit": {
        "pending": (WAIT, _("Seen")),
        "confirming": (WAIT, _("Confirming")),
        "confirmed": (GOOD, _("Confirmed")),
        "submitted": (WAIT, _("Sent")),
        "failed": (BAD, _("Failed")),
        "unmatched": (BAD, _("Unmatched")),
    },
}
