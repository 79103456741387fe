"""Chains and rates for staff, and which stores' assets are stopped for review. Assets themselves: apps.chain.admin."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.assets.models import AcceptedAsset, Chain, Rate
from apps.core import staff_roles
from apps.core.staff import ReadOnly, Switches, button


@admin.register(Chain)
class ChainAdmin(Switches):
    operation = staff_roles.ASSETS
    list_display = ["id", "name", "chain_id", "mode", "required_confirmations"]
    list_filter = ["mode"]
    switches = ("required_confirmations", "explorer_url")


@admin.register(AcceptedAsset)
class AcceptedAssetAdmin(ReadOnly):
    list_display = ["store", "mode", "asset", "suspended_at"]
    list_filter = ["mode", "asset", ("suspended_at", admin.EmptyFieldListFilter)]
    list_select_related = ["store", "asset"]
    search_fields = ["store__name", "=store__id"]
    actions = ["end_review"]

    @button(staff_roles.ASSET_REVIEW, "Review ended: take the asset again")
    def end_review(self, request: HttpRequest, rows: "QuerySet[AcceptedAsset]") -> None:
        for row in rows.exclude(suspended_at=None):
            AcceptedAsset.objects.filter(pk=row.pk).update(suspended_at=None)
            self.log_change(request, row, "Review ended")


@admin.register(Rate)
class RateAdmin(ReadOnly):
    list_display = ["asset", "currency", "rate", "source", "as_of", "valid_until"]
    list_filter = ["currency", "source"]
    search_fields = ["=asset__id"]
