"""What statuses of onboarding links are called, and in which tone."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import GOOD, INFO, QUIET, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "onboarding_link": {
        "active": (INFO, _("Open")),
        "used": (GOOD, _("Used")),
        "expired": (QUIET, _("Expired")),
    },
}
