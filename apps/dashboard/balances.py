"""Balances: what the store has of each coin, and what each part of it means."""

from django.http import HttpResponse
from msgspec.structs import asdict

from apps.assets.selectors import with_chains
from apps.core import clock
from apps.dashboard.plumbing import PageRequest, show
from apps.ledger.documents import balances_document


def index(request: PageRequest) -> HttpResponse:
    told = balances_document(request.access, clock.real_now())
    entries = [one for one in told.balances if one.total_atomic != "0"]
    assets = with_chains({one.asset_id for one in entries})
    context = {
        "entries": [
            {**asdict(one), "chain_name": assets[one.asset_id].chain.name} for one in entries
        ],
        "settlement": told.settlement_balance,
        "can_spend": any(one.balance_atomic != "0" for one in told.balances),
    }
    return show(request, "dashboard/balances/list.html", context)
