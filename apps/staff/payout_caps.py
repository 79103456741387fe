"""Payout limits of stores, which staff set."""

from typing import Any

from django.http import HttpRequest

from apps.payouts.models import StorePayoutCap
from apps.payouts.services.caps import set_store_cap
from apps.staff import lists
from apps.staff.pages import (
    Switches,
)
from apps.staff.plumbing.worth import Rated
from apps.stores import staff_roles


class StorePayoutCapAdmin(Rated, Switches):
    model = StorePayoutCap
    names = ("payout limit", "payout limits")
    operation = staff_roles.PAYOUT_CAPS
    list_display = ["shop", "coin", "per_transaction", "per_day"]
    list_select_related = ["store", "asset__chain"]
    search_fields = ["store", "asset"]
    search_help_text = "Asset, or the beginning of a store’s name"
    shop = lists.store()
    coin = lists.asset()
    per_transaction = lists.coins("per_tx_atomic", description="Per payout")
    per_day = lists.coins("daily_atomic", description="Per day")
    switches = ("per_tx_atomic", "daily_atomic")

    def title_of(self, row: StorePayoutCap) -> str:
        return f"of {row.store}, {row.asset.full_name}"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        set_store_cap(
            obj.store,
            obj.asset_id,
            **{name: form.cleaned_data[name] for name in form.changed_data if name != "reason"},
        )
