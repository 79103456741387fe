"""Swaps for staff, who look and never write."""

from django.contrib import admin

from apps.core.staff import Part, ReadOnly
from apps.swaps.models import Swap, SwapStep


class Steps(Part):
    model = SwapStep
    fields = ["at", "from_status", "to_status", "note"]


@admin.register(Swap)
class SwapAdmin(ReadOnly):
    list_display = [
        "created_at",
        "store",
        "mode",
        "source_asset",
        "sell_amount_atomic",
        "buy_asset",
        "actual_buy_amount_atomic",
        "provider",
        "status",
        "failure_reason",
    ]
    list_filter = ["status", "mode", "provider"]
    list_select_related = ["store", "source_asset", "buy_asset"]
    search_fields = ["=id", "=store__id", "=tx_hash", "=payment__reference"]
    ordering = ["-created_at"]
    inlines = [Steps]
