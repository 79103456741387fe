"""People and stores for staff: the switches that staff decide, who works where. Passwords and money are not here."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from apps.core.staff import ReadOnly, StaffInline, Switches
from apps.stores.models import AuditEntry, Member, Store, User


class Members(StaffInline):
    model = Member
    extra = 0
    fields = ["user", "role", "created_at"]
    readonly_fields = ["user", "created_at"]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(User)
class UserAdmin(Switches):
    list_display = ["email", "name", "is_active", "is_staff", "last_login"]
    list_filter = ["is_active", "is_staff"]
    search_fields = ["email", "name"]
    exclude = ["password", "groups", "user_permissions", "session_version", "email_key"]
    switches = ("name", "is_active")


@admin.register(Store)
class StoreAdmin(Switches):
    list_display = ["name", "country", "settlement_currency", "is_platform", "platform", "kyc_confirmed_at", "created_at"]
    list_filter = ["is_platform", "settlement_currency"]
    list_select_related = ["platform"]
    search_fields = ["name", "=id", "=external_id"]
    inlines = [Members]
    switches = (
        "accept_overpayments",
        "accept_underpayments",
        "underpayment_tolerance_bps",
        "overpayment_tolerance_bps",
        "customer_pays_fee",
        "fee_fraction",
        "is_platform",
        "platform_fee_fraction",
        "platform_may_pay_out",
        "kyc_confirmed_at",
        "payout_network_fee",
        "payout_review_threshold_cents",
        "review_new_destinations",
        "card_funding_live",
        "card_funding_test",
        "authorization_provider",
        "authorization_url",
        "authorization_policy",
        "x402_dispatch",
        "invoice_due_days",
        "support_email",
        "remove_service_branding",
    )


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly):
    list_display = ["at", "action", "actor_kind", "actor_name", "address", "target_type", "target_name", "store_id"]
    list_filter = ["actor_kind", "mode"]
    search_fields = ["=store_id", "=action", "actor_name", "=target_id", "=request_id"]
    ordering = ["-id"]
