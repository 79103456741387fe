"""Names and tones of the statuses of mandates, settlements and signed payments."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, INFO, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "mandate": {
        "active": (GOOD, _("Active")),
        "exhausted": (QUIET, _("Used up")),
        "revoked": (BAD, _("Revoked")),
        "expired": (QUIET, _("Expired")),
    },
    "settlement": {
        "pending": (WAIT, _("Waiting to be sent")),
        "submitted": (INFO, _("Submitted")),
        "confirmed": (GOOD, _("Confirmed")),
        "failed": (BAD, _("Failed")),
    },
    "signed": {
        "verified": (WAIT, _("Checked")),
        "submitted": (INFO, _("Submitted")),
        "unknown": (WAIT, _("Outcome unknown")),
        "settled": (GOOD, _("Settled")),
        "failed": (BAD, _("Failed")),
    },
}
