"""Names and tones of the statuses of outgoing transactions."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "outgoing": {
        "requested": (WAIT, _("Waiting to be signed")),
        "signed": (WAIT, _("Signed")),
        "submitted": (INFO, _("Sent")),
        "confirmed": (GOOD, _("Confirmed")),
        "failed": (BAD, _("Failed")),
        "review": (BAD, _("Under review")),
    },
}
