"""Webhooks for staff, who look and never write: receivers, what happened, and what is on its way to
them. Never a secret."""

from django.contrib import admin

from apps.core import staff_lists
from apps.core.staff import ReadOnly
from apps.webhooks.models import Delivery, Endpoint, Event


@admin.register(Endpoint)
class EndpointAdmin(ReadOnly):
    list_display = ["shop", "address", "platform", "created", "changed", "state"]
    list_filter = ["status", "mode"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Endpoint ID, or the beginning of a store's name"
    ordering = ["-created_at"]
    exclude = ["sealed_secret"]
    shop = staff_lists.store()
    address = staff_lists.text("url", "URL")
    created = staff_lists.when("created_at", "Created")
    changed = staff_lists.when("updated_at", "Changed")
    state = staff_lists.status("endpoint")


@admin.register(Event)
class EventAdmin(ReadOnly):
    list_display = ["created", "shop", "type", "id"]
    list_filter = [staff_lists.since("created_at"), "mode"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Event ID, or the beginning of a store's name"
    ordering = ["-created_at"]
    created = staff_lists.when("created_at", "Created")
    shop = staff_lists.store()


@admin.register(Delivery)
class DeliveryAdmin(ReadOnly):
    list_display = ["created", "shop", "what", "attempts", "answer", "state"]
    list_filter = [staff_lists.since("created_at"), "status", "mode"]
    list_select_related = ["store", "event"]
    search_fields = ["id", "event", "store"]
    search_help_text = "Delivery ID, event ID, or the beginning of a store's name"
    ordering = ["-created_at"]
    created = staff_lists.when("created_at", "Created")
    shop = staff_lists.store()
    what = staff_lists.text("event__type", "Event")
    state = staff_lists.status("delivery")

    @admin.display(description="Last response")
    def answer(self, row: Delivery) -> str | None:
        return row.error or (str(row.response_status) if row.response_status else None)
