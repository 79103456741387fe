"""Events and their deliveries for staff."""

from datetime import datetime
from typing import ClassVar

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.core.templatetags.tillgate import moment
from apps.staff import lists
from apps.staff.pages import ReadOnly
from apps.staff.plumbing import times
from apps.staff.plumbing.paging import BY_KEY
from apps.webhooks.catalogue import event_title
from apps.webhooks.models import RESPONSE_KEPT_BYTES, Delivery, Event
from apps.webhooks.reasons import error_words


def _event(event_type: str) -> SafeString:
    """In words, and below them as developers know it."""
    return format_html('{} <bdi class="code worth">{}</bdi>', event_title(event_type), event_type)


def _event_link(event: Event) -> SafeString:
    url = reverse("admin:webhooks_event_change", args=[event.pk])
    title = event_title(event.type)
    return format_html('<a href="{}">{}</a> <bdi class="code worth">{}</bdi>', url, title, event.pk)


def _created(delivery: Delivery) -> str:
    """Its ID tells when its event was made: only that tells whether a test clock is ahead."""
    is_by_clock = times.is_moved(delivery.event, delivery.event.created_at)
    at = delivery.created_at
    return times.by_clock(at) if is_by_clock else moment(at)


def _response(body: str) -> SafeString:
    """As it was received, and that it went on where no more is kept."""
    ending = " … (cut)" if len(body.encode()) >= RESPONSE_KEPT_BYTES else ""
    return format_html('<pre class="code received" tabindex="0">{}{}</pre>', body, ending)


class EventAdmin(ReadOnly):
    model = Event
    labels: ClassVar = {"object": "Content"}
    is_named = True
    has_other_times = False
    list_display = ["created", "shop", "what", "number"]
    number = lists.clipped("id", "Event ID")
    value_texts: ClassVar = {"type": lambda row: _event(row.type)}
    list_filter = [lists.since("created_at"), "mode"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Event ID, or the beginning of a store’s name"
    ordering = [BY_KEY]

    def title_of(self, row: Event) -> str:
        return event_title(row.type)

    @admin.display(description="Event")
    def what(self, row: Event) -> SafeString:
        return _event(row.type)


class DeliveryAdmin(ReadOnly):
    model = Delivery
    names = ("webhook delivery", "webhook deliveries")
    noun = "delivery"
    labels: ClassVar = {"is_test": "Test event", "response_status": "HTTP status"}
    list_display = ["created", "shop", "event_type", "attempts", "answer", "state"]
    list_filter = [lists.since("created_at"), "status", "mode"]
    list_select_related = ["store", "event"]
    search_fields = ["id", "event", "store"]
    search_help_text = "Delivery ID, event ID, or the beginning of a store’s name"
    ordering = ["-created_at"]

    value_texts: ClassVar = {
        "created_at": lambda row: _created(row),
        "error": lambda row: error_words(row.error, row.response_status),
        "event": lambda row: _event_link(row.event),
        "response_body": lambda row: _response(row.response_body),
    }

    @admin.display(description="Created")
    def created(self, row: Delivery) -> str:
        return _created(row)

    def since_words(self, row: Delivery, since: datetime) -> list[str]:
        return [_created(row)]

    def title_of(self, row: Delivery) -> str:
        return f"of “{event_title(row.event.type)}”"

    @admin.display(description="Event")
    def event_type(self, row: Delivery) -> SafeString:
        return _event(row.event.type)

    @admin.display(description="Last response")
    def answer(self, row: Delivery) -> str | None:
        return error_words(row.error, row.response_status) or None
