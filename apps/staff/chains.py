"""Chains and rates for staff."""

from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.http import HttpRequest

from apps.assets.confirmations import request_confirmations
from apps.assets.models import Chain, Rate
from apps.core import clock
from apps.core.errors import Failure
from apps.core.templatetags.tillgate import moment
from apps.core.web.forms import typographic
from apps.staff import lists
from apps.staff.pages import ReadOnly, Switches, typed_reason
from apps.staff.plumbing.values import NO_END, number_text
from apps.stores import staff_roles
from apps.stores.models import Currency, User

CURRENCIES = Currency.values


@admin.register(Chain)
class ChainAdmin(Switches):
    is_named = True
    operation = staff_roles.ASSETS
    list_display = ["name", "code", "number", "mode", "required_confirmations"]
    list_filter = ["mode"]
    code = lists.clipped("id", "ID")
    number = lists.text("chain_id", "Chain ID")
    switches = ("required_confirmations", "explorer_url")

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        """Confirmations take two members of staff, and are requested."""
        name = "required_confirmations"
        is_requested = name in form.changed_data
        confirmations = obj.required_confirmations
        form.changed_data = [column for column in form.changed_data if column != name]
        obj.refresh_from_db(fields=[name])
        super().save_model(request, obj, form, change)
        if is_requested:
            self._request(request, obj, confirmations)

    def _request(self, request: HttpRequest, chain: Chain, confirmations: int) -> None:
        staff = cast(User, request.user)
        try:
            row = request_confirmations(
                chain, confirmations, typed_reason(request), staff, clock.real_now()
            )
        except Failure as refusal:
            messages.error(request, typographic(refusal.text))
        else:
            messages.warning(request, f"{row}: sent for a second approval")


def _per_coin(row: Rate) -> str:
    return f"1 {row.asset.coin_symbol} = {number_text(row.rate)} {row.currency}"


@admin.register(Rate)
class RateAdmin(ReadOnly):
    is_named = True
    list_display = ["coin", "per_coin", "origin", "told_at", "valid"]
    list_filter = [lists.choices("currency", "currency", ((code, code) for code in CURRENCIES))]
    list_select_related = ["asset__chain"]
    search_fields = ["asset"]
    search_help_text = "Asset ID, such as ETH"
    ordering = ["asset", "currency"]
    coin = lists.asset()
    origin = lists.words("source", "Source")
    told_at = lists.when("as_of", "As of")
    value_texts: ClassVar = {"rate": _per_coin}

    @lists.number
    @admin.display(description="Rate")
    def per_coin(self, row: Rate) -> str:
        return _per_coin(row)

    @admin.display(description="Valid until")
    def valid(self, row: Rate) -> str:
        return NO_END if row.is_always_current else moment(row.valid_until)
