"""Payments over x402: where the facilitator is, what it takes, and what was signed lately."""

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext_noop as _

from apps.agents.selectors import signed_payments_visible_to
from apps.agents.services.x402_tokens import accepted_tokens, signable
from apps.assets.selectors import listed_assets
from apps.chain.own.choices import own_assets
from apps.dashboard.site.views import Answer, PageRequest, show
from apps.dashboard.tables.files import SIGNED_PAYMENTS
from apps.dashboard.tables.paging import window

# method, path, what it does
CALLS = (
    (
        "POST",
        "offers",
        _("Returns what must be signed; the payment is created by the signature"),
    ),
    ("GET", "supported", _("Lists supported networks and tokens")),
    ("POST", "verify", _("Checks whether a signed payment could settle now")),
    ("POST", "settle", _("Settles a signed payment and waits for a block")),
)


def index(request: PageRequest) -> HttpResponse:
    access = request.access
    own = own_assets(access)
    offered = [asset for asset in listed_assets(access.mode) if signable(asset)]
    context = {
        "page": window(signed_payments_visible_to(access), request.GET, {}),
        "assets": [
            token for token in accepted_tokens(access.store_id, access.mode) if token.pk not in own
        ],
        "offered": offered,
        "facilitator": f"{settings.API_URL}/api/v2/x402",
        "calls": CALLS,
    }
    return show(request, "dashboard/agents/x402.html", context)


def export(request: PageRequest) -> Answer:
    """Signed payments as CSV, newest first."""
    return SIGNED_PAYMENTS.of(request, signed_payments_visible_to(request.access))
