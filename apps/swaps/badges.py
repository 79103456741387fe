"""Names and tones of the statuses of swaps."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "swap": {
        "pending": (WAIT, _("Waiting")),
        "submitted": (INFO, _("In progress")),
        "completed": (GOOD, _("Completed")),
        "failed": (BAD, _("Failed")),
    },
}
