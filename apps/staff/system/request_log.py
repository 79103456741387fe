"""The request log for staff: who asked for what with which credential."""

from typing import ClassVar

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.access.access import AGENT, PUBLISHABLE, SECRET
from apps.access.models import (
    RequestEntry,
)
from apps.core.text.words import code_words
from apps.staff import lists
from apps.staff.pages import ReadOnly
from apps.staff.plumbing.codes import path_text
from apps.staff.plumbing.paging import BY_KEY

_KEYS = {SECRET: "Secret key", PUBLISHABLE: "Publishable key"}
_CREDENTIAL_PAGES = {
    SECRET: "admin:access_apikey_change",
    PUBLISHABLE: "admin:access_apikey_change",
    AGENT: "admin:access_agentcredential_change",
}


def _kind(row: RequestEntry) -> str:
    return _KEYS.get(row.credential_kind) or code_words(row.credential_kind)


def _credential(row: RequestEntry) -> SafeString:
    """Its name, linked where it has a page."""
    page = _CREDENTIAL_PAGES.get(row.credential_kind)
    if page is None or row.credential_id is None:
        return format_html('<bdi class="name">{}</bdi>', row.credential_name)
    url = reverse(page, args=[row.credential_id])
    return format_html('<a href="{}">{}</a>', url, row.credential_name)


class RequestEntryAdmin(ReadOnly):
    model = RequestEntry
    names = ("request", "requests")
    listed_as = "Request log"
    labels: ClassVar = {"credential_kind": "Credential type", "credential_name": "Credential"}
    is_named = True
    list_display = ["at", "call", "status", "took", "shop", "by"]
    list_filter = [lists.since("created_at"), "mode"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Entry ID, or the beginning of a store’s name"
    ordering = [BY_KEY]
    at = lists.made("created_at", "Time")
    # What only tells idempotency keys apart, and bodies: they are for the store's people.
    exclude = ["body_digest", "caller", "request_body", "response_body"]
    value_texts: ClassVar = {"credential_kind": _kind, "credential_name": _credential}

    def title_of(self, row: RequestEntry) -> str:
        return f"{row.method} {row.path}"

    @admin.display(description="Request")
    def call(self, row: RequestEntry) -> str:
        return format_html('{} <bdi class="code">{}</bdi>', row.method, path_text(row.path))

    @lists.number
    @admin.display(description="Duration")
    def took(self, row: RequestEntry) -> str:
        return f"{row.duration_ms:,} ms"

    @admin.display(description="Credential")
    def by(self, row: RequestEntry) -> SafeString:
        """By its name, and below it what it is."""
        kind = _kind(row)
        name = format_html('<bdi class="name">{}</bdi>', row.credential_name or kind)
        if name == kind or not row.credential_name:
            return name
        return format_html('{} <span class="worth below">{}</span>', name, kind)
