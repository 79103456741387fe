"""Names and tones of the statuses of reports."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "report": {
        "pending": (INFO, _("Generating")),
        "generated": (GOOD, _("Ready")),
        "failed": (BAD, _("Failed")),
    },
}
