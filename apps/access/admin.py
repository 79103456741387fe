"""Credentials for staff: never a secret or its hash; keys can be revoked and a lost second factor taken off."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.access import second_factor
from apps.access.models import (
    AccessToken,
    AgentCredential,
    ApiKey,
    Application,
    DeviceGrant,
    Grant,
    IDToken,
    RefreshToken,
    RequestEntry,
    SecondFactor,
)
from apps.access.services import revoke_api_key
from apps.core import clock
from apps.core.staff import ReadOnly


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnly):
    list_display = ["prefix", "last_four", "name", "store", "mode", "key_type", "last_used_at", "revoked_at"]
    list_filter = ["mode", "key_type"]
    list_select_related = ["store"]
    search_fields = ["=id", "=last_four", "store__name"]
    exclude = ["secret_hash"]
    actions = ["revoke"]

    @admin.action(description="Revoke the selected keys", permissions=["view"])
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
    list_display = ["user", "confirmed", "created_at", "throttling_failure_count"]
    list_select_related = ["user"]
    search_fields = ["user__email"]
    exclude = ["sealed_key", "sealed_backup_codes", "last_step"]
    actions = ["take_off"]

    @admin.action(description="Take off (the person signs in with the password alone)", permissions=["view"])
    def take_off(self, request: HttpRequest, factors: "QuerySet[SecondFactor]") -> None:
        for factor in list(factors):
            self.log_change(request, factor.user, "Second factor taken off")
            second_factor.take_off(factor.user)


# The library puts its models on the staff site with everything they hold; here staff see the apps, and nobody a token.
for _model in (AccessToken, Application, DeviceGrant, Grant, IDToken, RefreshToken):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)


@admin.register(Application)
class ApplicationAdmin(ReadOnly):
    list_display = ["name", "store", "client_id", "client_type", "is_active", "created"]
    list_filter = ["is_active", "client_type"]
    list_select_related = ["store"]
    search_fields = ["=client_id", "name", "store__name"]
    exclude = ["client_secret"]
