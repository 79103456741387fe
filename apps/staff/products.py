"""Products and their prices for staff."""

from apps.billing.models import (
    Price,
    Product,
)
from apps.staff import lists
from apps.staff.pages import Part, ReadOnly
from apps.staff.plumbing.paging import BY_KEY


class PricesInline(Part):
    model = Price
    fields = ["created_at", "unit_amount_cents", "currency", "interval", "interval_count", "active"]


class ProductAdmin(ReadOnly):
    model = Product
    is_named = True
    list_display = ["created", "shop", "label", "sold"]
    list_filter = ["mode", "active"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Product ID, or the beginning of a store’s name"
    label = lists.text("name", "Name")
    sold = lists.flag("active", "Active")
    ordering = [BY_KEY]
    inlines = [PricesInline]
