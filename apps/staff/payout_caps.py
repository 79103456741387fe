"""Payout limits of stores, which staff set."""

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest

from apps.core.clock import real_now
from apps.core.errors import Failure
from apps.core.web.forms import typographic
from apps.payouts.models import StorePayoutCap
from apps.payouts.services import limits
from apps.staff import lists
from apps.staff.pages import Switches, typed_reason
from apps.staff.plumbing.worth import Rated
from apps.stores import staff_roles
from apps.stores.models import User


class StorePayoutCapAdmin(Rated, Switches):
    model = StorePayoutCap
    names = ("payout limit", "payout limits")
    operation = staff_roles.PAYOUT_CAPS
    list_display = ["shop", "coin", "per_transaction", "per_day"]
    list_select_related = ["store", "asset__chain"]
    search_fields = ["store", "asset"]
    search_help_text = "Asset, or the beginning of a store’s name"
    coin = lists.asset()
    per_transaction = lists.coins("per_tx_atomic", description="Per payout")
    per_day = lists.coins("daily_atomic", description="Per day")
    switches = ("per_tx_atomic", "daily_atomic")

    def title_of(self, row: StorePayoutCap) -> str:
        return f"of {row.store}, {row.asset.full_name}"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Saves a lowered limit, and requests a raised or lifted one, which takes two."""
        typed = {
            name: form.cleaned_data[name] for name in self.switches if name in form.changed_data
        }
        cap = StorePayoutCap.objects.select_related("store", "asset__chain").get(pk=obj.pk)
        alone, for_two = limits.split(cap, typed)
        for name in for_two:
            setattr(obj, name, getattr(cap, name))
        # What the history says was changed.
        form.changed_data = [name for name in form.changed_data if name not in for_two]
        if alone:
            limits.lower(cap, alone)
        if for_two:
            self._request(request, cap, for_two)

    def _request(self, request: HttpRequest, cap: StorePayoutCap, changes: limits.Limits) -> None:
        staff = cast(User, request.user)
        try:
            row = limits.request_limits(cap, changes, typed_reason(request), staff, real_now())
        except Failure as refusal:
            messages.error(request, typographic(refusal.text))
        else:
            messages.warning(request, f"{row}: sent for a second approval")
