"""Payments over x402: where the facilitator is, what it takes, and what was signed lately."""

from django.conf import settings
from django.http import HttpResponse

from apps.agents.selectors import signed_payments_visible_to
from apps.agents.services.x402_offers import is_signable
from apps.assets.selectors import accepted_assets, listed_assets
from apps.dashboard.list_files import SIGNED_PAYMENTS
from apps.dashboard.paging import window
from apps.dashboard.plumbing import Answer, PageRequest, show

# method, path, what it does
CALLS = (
    ("POST", "requirements", "Creates a payment and returns what must be signed"),
    ("GET", "supported", "Lists supported networks and tokens"),
    ("POST", "verify", "Checks whether a signed payment could settle now"),
    ("POST", "settle", "Settles a signed payment and waits for a block"),
)


def index(request: PageRequest) -> HttpResponse:
    access = request.access
    offered = [asset for asset in listed_assets(access.mode) if is_signable(asset)]
    context = {
        "page": window(signed_payments_visible_to(access), request.GET, {}),
        "assets": [
            asset for asset in accepted_assets(access.store_id, access.mode) if is_signable(asset)
        ],
        "offered": offered,
        "facilitator": f"{settings.API_URL}/api/v2/x402",
        "calls": CALLS,
    }
    return show(request, "dashboard/agents/x402.html", context)


def export(request: PageRequest) -> Answer:
    """What was signed as CSV, newest first."""
    return SIGNED_PAYMENTS.of(request, signed_payments_visible_to(request.access))
