"""Credentials for staff: never a secret or its hash; keys can be revoked. Two take off a lost
second factor (apps.staff.approvals)."""

from typing import ClassVar
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.access.access import AGENT, PUBLISHABLE, SECRET
from apps.access.models import (
    AgentCredential,
    ApiKey,
    Application,
    RequestEntry,
    SecondFactor,
)
from apps.access.services import revoke_api_key
from apps.core import clock
from apps.core.words import code_words
from apps.staff import lists
from apps.staff.pages import ReadOnly, button
from apps.staff.plumbing.codes import path_text
from apps.staff.plumbing.paging import BY_KEY
from apps.stores import staff_roles

_KEYS = {SECRET: "Secret key", PUBLISHABLE: "Publishable key"}
_CREDENTIAL_PAGES = {
    SECRET: "admin:access_apikey_change",
    PUBLISHABLE: "admin:access_apikey_change",
    AGENT: "admin:access_agentcredential_change",
}


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnly):
    is_named = True
    list_display = ["shown_key", "label", "shop", "key_type", "used", "revoked"]
    list_display_links = ["shown_key"]
    list_filter = [
        "mode",
        "key_type",
        lists.present("revoked_at", "status", "Revoked", "Active"),
    ]
    list_select_related = ["store"]
    search_fields = ["id", "last_four", "store"]
    search_help_text = "Key ID, last four characters, or the beginning of a store’s name"
    label = lists.text("name", "Name")
    shop = lists.store()
    used = lists.when("last_used_at", "Last used")
    revoked = lists.when("revoked_at", "Revoked")
    exclude = ["secret_hash"]
    actions = ["revoke"]

    @admin.display(description="Key")
    def shown_key(self, key: ApiKey) -> str:
        return format_html('<bdi class="code whole">{}…{}</bdi>', key.prefix, key.last_four)

    @button(staff_roles.KEY_REVOKE, "Revoke the selected keys")
    def revoke(self, request: HttpRequest, keys: "QuerySet[ApiKey]") -> None:
        for key in keys:
            revoke_api_key(key, clock.real_now())
            self.log_change(request, key, "Revoked")


@admin.register(AgentCredential)
class AgentCredentialAdmin(ReadOnly):
    is_named = True
    list_display = ["shown_token", "label", "shop", "holder", "expires", "revoked"]
    list_display_links = ["shown_token"]
    list_filter = ["mode", lists.present("revoked_at", "status", "Revoked", "Active")]
    list_select_related = ["store"]
    search_fields = ["id", "last_four", "store"]
    search_help_text = "Credential ID, last four characters, or the beginning of a store’s name"
    label = lists.text("name", "Name")
    shop = lists.store()
    holder = lists.clipped("principal", "Principal")
    expires = lists.when("expires_at", "Expires")
    revoked = lists.when("revoked_at", "Revoked")
    exclude = ["secret_hash"]

    @admin.display(description="Token")
    def shown_token(self, row: AgentCredential) -> str:
        return format_html('<bdi class="code whole">{}…{}</bdi>', row.token_prefix, row.last_four)


def _kind(row: RequestEntry) -> str:
    return _KEYS.get(row.credential_kind) or code_words(row.credential_kind)


def _credential(row: RequestEntry) -> SafeString:
    """Its name, linked where it has a page."""
    page = _CREDENTIAL_PAGES.get(row.credential_kind)
    if page is None or row.credential_id is None:
        return format_html('<bdi class="name">{}</bdi>', row.credential_name)
    url = reverse(page, args=[row.credential_id])
    return format_html('<a href="{}">{}</a>', url, row.credential_name)


@admin.register(RequestEntry)
class RequestEntryAdmin(ReadOnly):
    is_named = True
    list_display = ["at", "call", "status", "took", "shop", "by"]
    list_filter = [lists.since("created_at"), "mode"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Entry ID, or the beginning of a store’s name"
    ordering = [BY_KEY]
    at = lists.made("created_at", "Time")
    shop = lists.store()
    exclude = ["body_digest", "caller"]  # which only tells idempotency keys apart
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


@admin.register(SecondFactor)
class SecondFactorAdmin(ReadOnly):
    list_display = ["user", "finished", "created", "failures", "loss"]
    list_select_related = ["user"]
    search_fields = ["user__email_key"]
    search_help_text = "The beginning of an email address"
    finished = lists.flag("confirmed", "Confirmed")
    created = lists.when("created_at", "Set up")
    failures = lists.figure("throttling_failure_count", "Failed attempts")
    exclude = ["sealed_key", "sealed_backup_codes", "last_step"]

    def title_of(self, row: SecondFactor) -> str:
        return f"of {row.user}"

    @admin.display(description="Lost device")
    def loss(self, row: SecondFactor) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["second_factor"])
        return format_html(
            '<a href="{}?{}">Remove second factor</a>', page, urlencode({"email": row.user.email})
        )


@admin.register(Application)
class ApplicationAdmin(ReadOnly):
    is_named = True
    list_display = ["name", "shop", "client", "client_type", "enabled", "created_on"]
    client = lists.clipped("client_id", "Client ID")
    enabled = lists.flag("is_active", "Active")
    list_filter = ["is_active", "client_type"]
    list_select_related = ["store"]
    search_fields = ["client_id", "store"]
    search_help_text = "Client ID, or the beginning of a store’s name"
    shop = lists.store()
    created_on = lists.when("created", "Created")
    exclude = ["client_secret"]
