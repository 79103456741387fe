"""Names and tones of the states of a store's asset."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "accepted_asset": {
        "accepted": (GOOD, _("In use")),
        "pending": (WAIT, _("Stopped for review")),
        "stopped": (BAD, _("Kept stopped")),
    },
}
