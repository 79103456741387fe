"""Subscriptions for staff, with their history."""

from apps.billing.models import (
    Subscription,
    SubscriptionChange,
    SubscriptionItem,
)
from apps.staff import lists
from apps.staff.pages import Part, ReadOnly
from apps.staff.plumbing.paging import BY_KEY


class Items(Part):
    model = SubscriptionItem
    fields = ["price", "quantity"]
    list_select_related = ["price"]


class SubscriptionChangesInline(Part):
    model = SubscriptionChange
    verbose_name_plural = "history"
    fields = ["created_at", "change", "from_status", "to_status"]


class SubscriptionAdmin(ReadOnly):
    model = Subscription
    list_display = [
        "created",
        "shop",
        "customer_email",
        "next_billing",
        "failed_cycle_count",
        "state",
    ]
    list_filter = ["status", "mode"]
    list_select_related = ["store", "customer"]
    search_fields = ["id", "^customer__email", "store"]
    search_help_text = (
        "Subscription ID, or the beginning of a customer’s email address or a store’s name"
    )
    created = lists.made("created_at", "Created")
    shop = lists.store()
    customer_email = lists.text("customer__email", "Customer")
    next_billing = lists.by_store("next_billing_at", "Next billing")
    state = lists.status("subscription")
    ordering = [BY_KEY]
    inlines = [Items, SubscriptionChangesInline]

    def title_of(self, row: Subscription) -> str:
        return f"of {row.customer.email}"
