"""Balances: what the store has of each coin, and what each part of it means."""

from typing import Any

from django.http import HttpResponse

from apps.core import clock
from apps.dashboard.plumbing import PageRequest, show
from apps.ledger.documents import balances_document


def index(request: PageRequest) -> HttpResponse:
    told: dict[str, Any] = balances_document(request.access, clock.real_now())
    context = {
        "entries": [one for one in told["balances"] if one["total_atomic"] != "0"],
        "settlement": told["settlement_balance"],
        "can_spend": any(one["balance_atomic"] != "0" for one in told["balances"]),
    }
    return show(request, "dashboard/balances/list.html", context)
