"""Customers of stores for staff."""

from apps.billing.models import (
    Customer,
)
from apps.staff import lists
from apps.staff.pages import ReadOnly
from apps.staff.plumbing.paging import BY_KEY


class CustomerAdmin(ReadOnly):
    model = Customer
    is_named = True
    list_display = ["created", "shop", "person", "label", "deleted"]
    list_filter = ["mode"]
    list_select_related = ["store"]
    search_fields = ["id", "^email", "store"]
    search_help_text = "Customer ID, or the beginning of an email address or a store’s name"
    exclude = ["email_key"]
    person = lists.text("email", "Email")
    label = lists.text("name", "Name")
    deleted = lists.when("deleted_at", "Deleted")
    ordering = [BY_KEY]
