"""Payment links for staff, who look and never write."""

from typing import ClassVar

from django.contrib import admin

from apps.core.templatetags.tillgate import fiat
from apps.links.models import PaymentLink
from apps.staff import lists
from apps.staff.pages import ReadOnly
from apps.staff.plumbing.paging import BY_KEY


class PaymentLinkAdmin(ReadOnly):
    model = PaymentLink
    labels: ClassVar = {
        "email": "Customer’s email",
        "max_cents": "Highest amount",
        "min_cents": "Lowest amount",
        "name": "Customer’s name",
        "suggested_cents": "Suggested amounts",
    }
    is_named = True
    list_display = ["created", "shop", "label", "price", "paused", "archived"]
    list_filter = [
        "mode",
        lists.present("archived_at", "status", "Archived", "Not archived"),
    ]
    list_select_related = ["store"]
    search_fields = ["id", "token", "store"]
    search_help_text = "Link ID, the end of its address, or the beginning of a store’s name"
    label = lists.text("title", "Title")
    paused = lists.when("paused_at", "Paused")
    archived = lists.when("archived_at", "Archived")
    ordering = [BY_KEY]

    def title_of(self, row: PaymentLink) -> str:
        return row.title

    @lists.number
    @admin.display(description="Price")
    def price(self, row: PaymentLink) -> str:
        if row.amount_cents is None:
            return "Customer chooses"
        return fiat(row.amount_cents, row.currency)
