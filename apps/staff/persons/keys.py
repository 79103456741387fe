"""API keys for staff, who revoke them: never a secret or its hash."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from apps.access.models import (
    ApiKey,
)
from apps.access.services import revoke_api_key
from apps.core import clock
from apps.staff import lists
from apps.staff.pages import ReadOnly, button
from apps.stores import staff_roles


class ApiKeyAdmin(ReadOnly):
    model = ApiKey
    names = ("API key", "API keys")
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
