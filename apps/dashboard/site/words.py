"""Words of codes that pages say as they are, and of sentences that are made of a noun."""

from django.utils.translation import gettext_noop as _

TYPES = (_("confidential"), _("public"), _("secret"), _("publishable"), _("session"), _("oauth"))
MODES = (_("live"), _("test"))
ROLES = (
    _("owner"),
    _("admin"),
    _("developer"),
    _("accountant"),
    _("cashier"),
    _("viewer"),
)
ACTORS = (
    _("staff"),
    _("key"),
    _("app"),
    _("agent"),
    _("command"),
    _("visitor"),
    _("system"),
)
# What the inbox leads to, by the noun of a transfer (apps.chain.sending.following).
TRANSFERS = (
    _("View payment"),
    _("View payout"),
    _("View refund"),
    _("View return"),
    _("View swap"),
    _("View draw"),
    _("View transfer"),
)
