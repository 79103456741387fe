"""Swaps for staff, who look and never write."""

from django.contrib import admin

from apps.assets.staff_worth import Rated
from apps.core import money
from apps.core.staff import lists
from apps.core.staff.pages import Part
from apps.core.staff.paging import BY_KEY
from apps.swaps.models import Swap, SwapStep


class Steps(Part):
    model = SwapStep
    fields = ["at", "from_status", "to_status", "note"]


@admin.register(Swap)
class SwapAdmin(Rated):
    rated_asset = "source_asset"
    list_display = ["created", "shop", "sold", "bought", "why", "state"]
    list_filter = ["status", "mode"]
    list_select_related = ["store", "source_asset", "buy_asset"]
    search_fields = ["id", "payment__reference", "store"]
    search_help_text = "Swap ID, payment reference, or the beginning of a store’s name"
    created = lists.made("created_at", "Created")
    shop = lists.store()
    sold = lists.coins("sell_amount_atomic", "source_asset", "Sold")
    why = lists.text("failure_reason", "Failure")
    state = lists.status("swap")
    ordering = [BY_KEY]
    inlines = [Steps]

    def title_of(self, row: Swap) -> str:
        sold = row.source_asset
        amount = money.amount_text(row.sell_amount_atomic, sold.atomic_decimals)
        return f"of {amount} {sold.coin_symbol} for {row.buy_asset.coin_symbol}"

    @lists.number
    @admin.display(description="Bought")
    def bought(self, row: Swap) -> str | None:
        amount = row.actual_buy_amount_atomic
        asset = row.buy_asset
        return (
            None
            if amount is None
            else f"{money.amount_text(amount, asset.atomic_decimals)} {asset.coin_symbol}"
        )
