"""Shared parts of the lists of payouts, refunds and swaps: filters in the address, pages, and sums
of the filtered rows.

A row is valued at the rate of when it was made, never at today's.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext

from apps.assets.models import Asset
from apps.assets.selectors import active_assets, daily_rates, with_chains
from apps.core import list_pages, money, searching
from apps.core.money import Fiat
from apps.dashboard.site.views import PageRequest, is_htmx, show
from apps.dashboard.tables.filters import Filters
from apps.dashboard.tables.lists import Listing, Tab
from apps.dashboard.tables.paging import counted_page
from apps.payments.selectors import payments_visible_to

Row = TypeVar("Row", bound=Model)
SUMMED_MAX = 2_000


@dataclass(frozen=True)
class Worth:
    """A row's amount, and what it was worth; None where nobody knew."""

    asset: Asset
    amount_atomic: int
    fiat: Fiat | None


@dataclass(frozen=True)
class CoinSum:
    """Of one coin: how much in how many rows, and what those were worth whose rate is known."""

    asset: Asset
    amount_atomic: int
    count: int
    worth: tuple[Fiat, ...]
    is_valued: bool


@dataclass(frozen=True)
class CoinSums:
    """`is_whole` is False when there are more rows than are added up: the newest were."""

    coins: list[CoinSum]
    is_whole: bool


Sale = tuple[str, int, datetime]  # asset, atomic amount, when


def worths_of(
    sales: Sequence[Sale], currency: str, assets: Mapping[str, Asset] | None = None
) -> list[Worth]:
    """Each at the first rate of its day. One question for all, and another for their assets where
    these haven't been read."""
    dated = [(asset_id, at.astimezone(UTC).date()) for asset_id, _, at in sales]
    rates = daily_rates(dated, currency)
    if assets is None:
        assets = with_chains({sale[0] for sale in sales})
    worths = []
    for (asset_id, amount, _), day in zip(sales, dated, strict=True):
        asset = assets[asset_id]
        worths.append(Worth(asset, amount, worth_at(rates.get(day), amount, asset, currency)))
    return worths


def worth_at(rate: Decimal | None, amount_atomic: int, asset: Asset, currency: str) -> Fiat | None:
    return (
        None
        if rate is None
        else Fiat(money.cents_for_atomic(amount_atomic, rate, asset.atomic_decimals), currency)
    )


def sums_of(worths: Sequence[Worth], *, is_whole: bool) -> CoinSums:
    """By coin."""
    by_asset: dict[str, list[Worth]] = defaultdict(list)
    for item in worths:
        by_asset[item.asset.pk].append(item)
    coins = [_sum(rows[0].asset, rows) for rows in by_asset.values()]
    return CoinSums(
        sorted(coins, key=lambda item: (item.asset.position, item.asset.pk)),
        is_whole,
    )


def _sum(asset: Asset, rows: Sequence[Worth]) -> CoinSum:
    cents: dict[str, int] = {}
    for row_summed in rows:
        if row_summed.fiat is not None:
            cents[row_summed.fiat.currency] = (
                cents.get(row_summed.fiat.currency, 0) + row_summed.fiat.cents
            )
    worth = tuple(Fiat(cents_summed, currency) for currency, cents_summed in sorted(cents.items()))
    return CoinSum(
        asset,
        sum(row_summed.amount_atomic for row_summed in rows),
        len(rows),
        worth,
        all(row_summed.fiat is not None for row_summed in rows),
    )


def summed(rows: "QuerySet[Row]") -> "QuerySet[Row]":
    """Those that are added up."""
    return list_pages.part(rows, 0, SUMMED_MAX)


def list_page(
    request: PageRequest,
    listing: Listing,
    filters: Filters,
    rows: "QuerySet[Row]",
    tabs: Mapping[str, str],
    add_up: Callable[[PageRequest, "QuerySet[Row]"], Sequence[Worth]],
    context: Mapping[str, object],
) -> HttpResponse:
    """A page of the filtered rows with their sums, whole or as the part that HTMX swaps."""
    page = counted_page(rows, request.GET, filters.query)
    is_empty = not page.rows and not filters.is_any and page.number == 1
    listed = {
        "listing": listing.noun,
        "table": listing.table(request, page.rows, filters.parameters),
        "filters": filters,
        "tabs": [
            Tab(gettext(name), filters.query(status=status), status == filters.status)
            for status, name in tabs.items()
        ],
        "sums": sums_of(add_up(request, rows), is_whole=page.total <= SUMMED_MAX)
        if page.rows
        else CoinSums([], is_whole=True),
        "summed_max": SUMMED_MAX,
        "looked_through_max": searching.LOOKED_THROUGH_MAX if listing.noun == "payouts" else None,
        "has_rows": bool(page.rows),
        **page.context(),
        "is_empty": is_empty,
        "has_payments": not is_empty or payments_visible_to(request.access).exists(),
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    if "coins" not in context:
        listed["coins"] = active_assets(request.access.mode)
    template = "dashboard/lists/_rows.html" if part else f"dashboard/{listing.noun}/list.html"
    return show(request, template, {**listed, **context})
