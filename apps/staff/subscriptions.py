"""Subscriptions for staff, with their history."""

from typing import ClassVar

from apps.billing.models import (
    Subscription,
    SubscriptionChange,
    SubscriptionItem,
)
from apps.staff import lists
from apps.staff.pages import History, Part, ReadOnly
from apps.staff.plumbing.paging import BY_KEY


class Items(Part):
    model = SubscriptionItem
    fields = ["price", "quantity"]
    list_select_related = ["price"]


class SubscriptionChangesInline(History):
    model = SubscriptionChange
    noun = "subscription"
    labels: ClassVar = {"created_at": "Time"}
    code_nouns: ClassVar = {"change": "subscription_change"}
    fields = ["created_at", "change", "from_status", "to_status"]


class SubscriptionAdmin(ReadOnly):
    model = Subscription
    noun = "subscription"
    labels: ClassVar = {
        "anchor_day": "Billing day",
        "cancel_at": "Ends on",
        "cancel_at_period_end": "Ends with its period",
        "current_period_end": "Current period ends",
        "current_period_start": "Current period started",
        "failed_cycle_count": "Failed payments in a row",
        "grace_cycles": "Failed payments before cancellation",
        "next_billing_at": "Next invoice",
        "next_step_at": "Next change",
        "trial_end": "Trial ends",
    }
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
    customer_email = lists.text("customer__email", "Customer")
    next_billing = lists.by_store("next_billing_at", "Next billing")
    ordering = [BY_KEY]
    inlines = [Items, SubscriptionChangesInline]

    def title_of(self, row: Subscription) -> str:
        return f"of {row.customer.email}"
