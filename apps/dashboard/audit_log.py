"""Audit log: who did what to this store, in both modes, newest first."""

from django.http import HttpResponse

from apps.assets.audit_details import all_coins, detail_lines
from apps.dashboard.paging import window
from apps.dashboard.plumbing import PageRequest, show
from apps.stores import audit

_NOUNS = {
    "": "Everything",
    "api_key": "API keys",
    "agent_credential": "Agent credentials",
    "oauth_app": "Apps",
    "webhook_endpoint": "Webhook endpoints",
    "member": "Team",
    "invitation": "Invitations",
    "store": "Settings",
    "asset": "Accepted coins",
    "payment": "Payments",
    "refund": "Refunds",
    "late_deposit": "Late deposits",
    "swap": "Swaps",
    "auto_swap": "Automatic swaps",
    "payout": "Payouts",
    "payout_destination": "Payout destinations",
    "customer": "Customers",
    "product": "Products",
    "price": "Prices",
    "subscription": "Subscriptions",
    "invoice": "Invoices",
    "staff": "Staff",
}
_TEXT_MAX = 100


def index(request: PageRequest) -> HttpResponse:
    filters = {
        name: request.GET.get(name, "").strip()[:_TEXT_MAX].replace("\x00", "")
        for name in ("action", "actor")
    }
    filters["action"] = filters["action"] if filters["action"] in _NOUNS else ""
    page = window(audit.entries(request.access.store_id, **filters), request.GET, filters)
    coins = all_coins()
    context = {
        "window": page,
        "rows": [
            (
                entry,
                coins[entry.target_name].full_name
                if entry.target_name in coins
                else entry.target_name,
                detail_lines(entry.details, coins, entry.target_name),
            )
            for entry in page.rows
        ],
        "filters": filters,
        "nouns": _NOUNS.items(),
        "is_filtered": any(filters.values()),
    }
    return show(request, "dashboard/audit_log/list.html", context)
