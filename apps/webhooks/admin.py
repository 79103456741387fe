"""Webhooks for staff, who look and never write: receivers, what happened, and what is on its way to
them. Never a secret."""

from django.contrib import admin

from apps.core.staff import lists
from apps.core.staff.pages import ReadOnly
from apps.core.staff.paging import BY_KEY
from apps.webhooks.models import Delivery, Endpoint, Event


@admin.register(Endpoint)
class EndpointAdmin(ReadOnly):
    list_display = ["shop", "address", "platform", "created", "changed", "state"]
    list_filter = ["status", "mode"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Endpoint ID, or the beginning of a store’s name"
    ordering = [BY_KEY]
    exclude = ["sealed_secret"]
    shop = lists.store()
    address = lists.text("url", "URL")
    created = lists.when("created_at", "Created")
    changed = lists.when("updated_at", "Changed")
    state = lists.status("endpoint")


@admin.register(Event)
class EventAdmin(ReadOnly):
    list_display = ["created", "shop", "type", "number"]
    number = lists.text("id", "Event ID")
    list_filter = [lists.since("created_at"), "mode"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Event ID, or the beginning of a store’s name"
    ordering = [BY_KEY]
    created = lists.when("created_at", "Created")
    shop = lists.store()

    def title_of(self, row: Event) -> str:
        return row.type


@admin.register(Delivery)
class DeliveryAdmin(ReadOnly):
    list_display = ["created", "shop", "event_type", "attempts", "answer", "state"]
    list_filter = [lists.since("created_at"), "status", "mode"]
    list_select_related = ["store", "event"]
    search_fields = ["id", "event", "store"]
    search_help_text = "Delivery ID, event ID, or the beginning of a store’s name"
    ordering = ["-created_at"]
    created = lists.when("created_at", "Created")
    shop = lists.store()
    event_type = lists.text("event__type", "Event")
    state = lists.status("delivery")

    def title_of(self, row: Delivery) -> str:
        return f"of {row.event.type}"

    @admin.display(description="Last response")
    def answer(self, row: Delivery) -> str | None:
        return row.failure or (str(row.response_status) if row.response_status else None)
