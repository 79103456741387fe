"""Chains and rates for staff, and which stores' assets are stopped for review. Assets themselves:
apps.chain.admin."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.assets.models import AcceptedAsset, Chain, Rate
from apps.core.staff import lists, roles
from apps.core.staff.pages import ReadOnly, Switches, button
from apps.core.staff.values import number_text
from apps.core.templatetags.tillgate import moment
from apps.stores.models import Currency

CURRENCIES = Currency.values


@admin.register(Chain)
class ChainAdmin(Switches):
    operation = roles.ASSETS
    list_display = ["name", "code", "number", "mode", "required_confirmations"]
    list_filter = ["mode"]
    code = lists.text("id", "ID")
    number = lists.text("chain_id", "Chain ID")
    switches = ("required_confirmations", "explorer_url")


@admin.register(AcceptedAsset)
class AcceptedAssetAdmin(ReadOnly):
    list_display = ["shop", "coin", "stopped"]
    list_display_links = ["shop"]
    list_filter = [
        lists.present("suspended_at", "state", "Stopped for review", "In use"),
        "mode",
        ("asset", lists.AssetFilter),
    ]
    list_select_related = ["store", "asset__chain"]
    search_fields = ["store"]
    search_help_text = "Store ID, or the beginning of a store’s name"
    shop = lists.store()
    coin = lists.asset()
    stopped = lists.when("suspended_at", "Stopped for review")
    actions = ["end_review"]

    def title_of(self, row: AcceptedAsset) -> str:
        return f"{row.store}: {row.asset.full_name}"

    @button(roles.ASSET_REVIEW, "End review: accept the asset again")
    def end_review(self, request: HttpRequest, rows: "QuerySet[AcceptedAsset]") -> None:
        for row in rows.exclude(suspended_at=None):
            AcceptedAsset.objects.filter(pk=row.pk).update(suspended_at=None)
            self.log_change(request, row, "Review ended")


@admin.register(Rate)
class RateAdmin(ReadOnly):
    list_display = ["coin", "per_coin", "origin", "told_at", "valid"]
    list_filter = [lists.choices("currency", "currency", ((code, code) for code in CURRENCIES))]
    list_select_related = ["asset__chain"]
    search_fields = ["asset"]
    search_help_text = "Asset ID, such as ETH"
    ordering = ["asset", "currency"]
    coin = lists.asset()
    origin = lists.words("source", "Source")
    told_at = lists.when("as_of", "As of")

    @lists.number
    @admin.display(description="Rate")
    def per_coin(self, row: Rate) -> str:
        return f"1 {row.asset.coin_symbol} = {number_text(row.rate)} {row.currency}"

    @admin.display(description="Valid until")
    def valid(self, row: Rate) -> str:
        return "Always" if row.is_always_current else moment(row.valid_until)
