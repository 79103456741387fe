"""Agents for staff: credentials, never a token, and their payout limits."""

from django.contrib import admin
from django.utils.html import format_html

from apps.access.models import (
    AgentCredential,
)
from apps.agents.models import (
    AgentPayoutCap,
)
from apps.staff import lists
from apps.staff.pages import ReadOnly


class AgentCredentialAdmin(ReadOnly):
    model = AgentCredential
    is_named = True
    list_display = ["shown_token", "label", "shop", "holder", "expires", "revoked"]
    list_display_links = ["shown_token"]
    list_filter = ["mode", lists.present("revoked_at", "status", "Revoked", "Active")]
    list_select_related = ["store"]
    search_fields = ["id", "last_four", "store"]
    search_help_text = "Credential ID, last four characters, or the beginning of a store’s name"
    label = lists.text("name", "Name")
    holder = lists.clipped("principal", "Principal")
    expires = lists.when("expires_at", "Expires")
    revoked = lists.when("revoked_at", "Revoked")
    exclude = ["secret_hash"]

    @admin.display(description="Token")
    def shown_token(self, row: AgentCredential) -> str:
        return format_html('<bdi class="code whole">{}…{}</bdi>', row.token_prefix, row.last_four)


class AgentPayoutCapAdmin(ReadOnly):
    model = AgentPayoutCap
    names = ("agent payout limit", "agent payout limits")
    list_display = ["shop", "label", "coin", "per_transaction", "per_day"]
    list_select_related = ["credential__store", "asset__chain"]
    search_fields = ["credential", "credential__store", "asset"]
    search_help_text = "Credential ID, asset, or the beginning of a store’s name"
    shop = lists.store("credential__store", mode="credential__mode")
    label = lists.text("credential__name", "Credential")
    coin = lists.asset()
    per_transaction = lists.coins("per_tx_atomic", description="Per transaction")
    per_day = lists.coins("daily_atomic", description="Per day")

    def title_of(self, row: AgentPayoutCap) -> str:
        return f"of {row.credential.name}, {row.asset.full_name}"
