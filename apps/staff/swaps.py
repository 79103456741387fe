"""Swaps for staff, who look and never write."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import HttpRequest

from apps.core import money
from apps.staff import lists
from apps.staff.pages import History
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.worth import Rated, rate_of
from apps.swaps.models import Swap, SwapStep


class Steps(History):
    model = SwapStep
    noun = "swap"
    fields = ["at", "from_status", "to_status", "note"]


class SwapAdmin(Rated):
    model = Swap
    noun = "swap"
    labels: ClassVar = {
        "actual_buy_amount_atomic": "Received",
        "buy_asset": "Bought asset",
        "expected_buy_amount_atomic": "Expected to receive",
        "min_buy_amount_atomic": "Minimum to receive",
        "sell_amount_atomic": "Sold",
        "slippage_bps": "Maximum slippage",
        "source_asset": "Sold asset",
    }
    rated_asset = "source_asset"
    list_display = ["created", "shop", "sold", "bought", "why", "state"]
    list_filter = ["status", "mode"]
    list_select_related = ["store", "source_asset", "buy_asset"]
    search_fields = ["id", "payment__reference", "store"]
    search_help_text = "Swap ID, payment reference, or the beginning of a store’s name"
    sold = lists.coins("sell_amount_atomic", "source_asset", "Sold")
    bought = lists.coins("actual_buy_amount_atomic", "buy_asset", "Bought", rate="buy_rate_now")
    why = lists.text("failure_reason", "Failure")
    ordering = [BY_KEY]
    inlines = [Steps]

    def title_of(self, row: Swap) -> str:
        sold = row.source_asset
        amount = money.amount_text(row.sell_amount_atomic, sold.atomic_decimals)
        return f"of {amount} {sold.coin_symbol} for {row.buy_asset.coin_symbol}"

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        rows: QuerySet[Any] = super().get_queryset(request)
        rated: QuerySet[Any] = rows.annotate(buy_rate_now=rate_of("buy_asset"))
        return rated
