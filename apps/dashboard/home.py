"""The first page: what to do next, how business goes, what the store has, and what came in last."""

from dataclasses import dataclass
from decimal import Decimal

from django.http import HttpResponse

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.selectors import valued
from apps.billing.selectors import owed
from apps.core import clock, money
from apps.dashboard.books.overview import overview
from apps.dashboard.go_live import setup_of
from apps.dashboard.payment.columns import PAYMENTS
from apps.dashboard.site.views import PageRequest, inbox_of, show
from apps.dashboard.store.setup import way_choices
from apps.dashboard.tables.paging import of_one_store
from apps.ledger.selectors import Balance, balances
from apps.payments.selectors import payments_visible_to

RECENT = 6
ATTENTION = 5
COLUMNS = ("payment", "customer", "status", "coin", "amount", "net", "created")


@dataclass(frozen=True)
class Holding:
    """A balance with its asset; the worths are in the settlement currency, None without a current
    rate."""

    asset: Asset
    balance: Balance
    available_cents: int | None
    held_cents: int | None


@dataclass(frozen=True)
class Holdings:
    """Every asset of which there is something, the one worth most first. The sums leave out what
    has no rate."""

    rows: list[Holding]
    available_cents: int
    held_cents: int
    is_whole: bool


def index(request: PageRequest) -> HttpResponse:
    access = request.access
    recent = of_one_store(payments_visible_to(access)[:RECENT], access.store)
    context = {
        "setup": setup_of(access, request.member, request.person),
        "ways": way_choices(),
        "is_unfolded": request.GET.get("setup") == "all",
        "holdings": _holdings(access),
        "attention": inbox_of(request).lines(ATTENTION),
        "overview": overview(access, request.GET.get("range", "")) if recent else None,
        "table": PAYMENTS.part(request, recent, COLUMNS),
        "payments": recent,
        "owed": owed(access, access.now()),
    }
    return show(request, "dashboard/home.html", context)


def _holdings(access: Access) -> Holdings:
    totals = {
        asset_id: item
        for asset_id, item in balances(access.store_id, access.mode).items()
        if item.total_atomic
    }
    rated = valued(totals, access.store.settlement_currency, clock.real_now())
    rows = [_holding(asset, totals[asset.pk], rate) for asset, rate in rated]
    rows.sort(key=lambda item: (-(item.available_cents or 0), item.asset.position))
    return Holdings(
        rows,
        available_cents=sum(item.available_cents or 0 for item in rows),
        held_cents=sum(item.held_cents or 0 for item in rows),
        is_whole=all(item.available_cents is not None for item in rows),
    )


def _holding(asset: Asset, balance: Balance, rate: Decimal | None) -> Holding:
    if rate is None:
        return Holding(asset, balance, None, None)
    worths = (
        money.cents_for_atomic(amount, rate, asset.atomic_decimals)
        for amount in (balance.available_atomic, balance.held_atomic)
    )
    return Holding(asset, balance, *worths)
