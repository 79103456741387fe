"""Credentials for staff: never a secret or its hash; keys can be revoked. Two take off a lost second factor (apps.console.admin)."""

from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from apps.access.models import (
    AgentCredential,
    ApiKey,
    Application,
    RequestEntry,
    SecondFactor,
)
from apps.access.services import revoke_api_key
from apps.core import clock, staff_roles
from apps.core.staff import ReadOnly, button


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnly):
    list_display = ["prefix", "last_four", "name", "store", "mode", "key_type", "last_used_at", "revoked_at"]
    list_filter = ["mode", "key_type"]
    list_select_related = ["store"]
    search_fields = ["=id", "=last_four", "store__name"]
    exclude = ["secret_hash"]
    actions = ["revoke"]

    @button(staff_roles.KEY_REVOKE, "Revoke the selected keys")
    def revoke(self, request: HttpRequest, keys: "QuerySet[ApiKey]") -> None:
        for key in keys:
            revoke_api_key(key, clock.real_now())
            self.log_change(request, key, "Revoked")


@admin.register(AgentCredential)
class AgentCredentialAdmin(ReadOnly):
    list_display = ["token_prefix", "last_four", "name", "store", "mode", "principal", "expires_at", "revoked_at"]
    list_filter = ["mode"]
    list_select_related = ["store"]
    search_fields = ["=id", "=last_four", "store__name", "principal"]
    exclude = ["secret_hash"]


@admin.register(RequestEntry)
class RequestEntryAdmin(ReadOnly):
    list_display = ["created_at", "method", "path", "status", "credential_kind", "duration_ms", "store", "mode"]
    list_filter = ["mode", "method"]
    list_select_related = ["store"]
    search_fields = ["=request_id", "=store__id"]
    exclude = ["body_digest"]


@admin.register(SecondFactor)
class SecondFactorAdmin(ReadOnly):
    list_display = ["user", "confirmed", "created_at", "throttling_failure_count", "loss"]
    list_select_related = ["user"]
    search_fields = ["user__email"]
    exclude = ["sealed_key", "sealed_backup_codes", "last_step"]

    @admin.display(description="Lost")
    def loss(self, row: SecondFactor) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["second_factor"])
        return format_html('<a href="{}?{}">Take it off</a>', page, urlencode({"email": row.user.email}))


@admin.register(Application)
class ApplicationAdmin(ReadOnly):
    list_display = ["name", "store", "client_id", "client_type", "is_active", "created"]
    list_filter = ["is_active", "client_type"]
    list_select_related = ["store"]
    search_fields = ["=client_id", "name", "store__name"]
    exclude = ["client_secret"]
