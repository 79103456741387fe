"""Names of the statuses of the service's parts on customers' pages, in their language."""

from django.utils.translation import gettext_lazy as _

from apps.core.badges import BAD, GOOD, QUIET, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "component": {
        "operational": (GOOD, _("Operational")),
        "delayed": (WAIT, _("Delayed")),
        "paused": (WAIT, _("Paused")),
        "down": (BAD, _("Outage")),
        "unknown": (QUIET, _("Unknown")),
    },
}
