"""What statuses of reports are called, and in which tone."""

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
