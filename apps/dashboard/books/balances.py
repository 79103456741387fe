"""Balances: what the store has of each coin, and what each part of it means."""

from django.http import HttpResponse
from msgspec.structs import asdict

from apps.assets.selectors import with_chains
from apps.core import clock
from apps.dashboard.site.views import Answer, PageRequest, show
from apps.dashboard.tables.files import balances_file
from apps.ledger.documents import BalanceDocument, BalancesDocument, balances_document
from apps.payments.selectors import payments_visible_to


def index(request: PageRequest) -> HttpResponse:
    document = balances_document(request.access, clock.real_now())
    entries = _with_coins(document)
    assets = with_chains({balance.asset_id for balance in entries})
    context = {
        "has_payments": bool(entries) or payments_visible_to(request.access).exists(),
        "entries": [
            {**asdict(balance), "chain_name": assets[balance.asset_id].chain.name}
            for balance in entries
        ],
        "settlement": document.settlement_balance,
        "worth_cents": sum(balance.amount_cents or 0 for balance in entries),
        "is_whole": all(balance.amount_cents is not None for balance in entries),
        "can_spend": any(balance.balance_atomic != "0" for balance in document.balances),
    }
    return show(request, "dashboard/balances/list.html", context)


def _with_coins(document: BalancesDocument) -> list[BalanceDocument]:
    """Balances by value, as on Home."""
    entries = [balance for balance in document.balances if balance.total_atomic != "0"]
    return sorted(entries, key=lambda balance: -(balance.amount_cents or 0))


def export(request: PageRequest) -> Answer:
    """The balances of now as CSV."""
    document = balances_document(request.access, clock.real_now())
    file = balances_file(document.settlement_balance.currency)
    return file.of_each(request, _with_coins(document))
