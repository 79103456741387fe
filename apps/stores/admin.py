"""People and stores for staff: the switches that one of them decides, who works where. Passwords
and money are not here.

What takes two is linked to from here, and asked for among the staff requests (apps.console.admin).
"""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from apps.core.staff import lists, roles
from apps.core.staff.pages import Part, ReadOnly, Switches, SwitchForm
from apps.stores import staffing
from apps.stores.models import AuditEntry, Member, Store, User


class Members(Part):
    model = Member
    operation = roles.STORE_SETTINGS
    fields = ["user", "role", "created_at"]
    readonly_fields = ["user", "created_at"]


class UserForm(SwitchForm):
    def clean_is_active(self) -> bool:
        if not self.cleaned_data["is_active"]:
            try:
                staffing.refuse_last_admin(self.instance)
            except staffing.StaffingRefused as refusal:
                raise forms.ValidationError(refusal.text) from None
        return bool(self.cleaned_data["is_active"])


@admin.register(User)
class UserAdmin(Switches):
    form = UserForm
    operation = roles.ACCOUNT
    list_display = ["address", "label", "enabled", "roles", "signed_in", "change_roles"]
    list_filter = ["is_active", "is_staff"]
    search_fields = ["email_key", "id"]
    search_help_text = "The beginning of an email address, or an account ID"
    ordering = ["email_key"]
    address = lists.text("email", "Email")
    label = lists.text("name", "Name")
    enabled = lists.flag("is_active", "Active")
    signed_in = lists.when("last_login", "Last sign-in")
    exclude = ["password", "groups", "user_permissions", "session_version", "email_key"]
    switches = ("name", "is_active")

    @admin.display(description="Staff roles")
    def roles(self, row: User) -> str:
        return ", ".join(sorted(roles.roles_of(row))) or "—"

    @admin.display(description="Change")
    def change_roles(self, row: User) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["staff_roles"])
        return format_html(
            '<a href="{}?{}">Change roles</a>', page, urlencode({"email": row.email})
        )

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        if not obj.is_active:
            staffing.leave(obj)
        obj.save(update_fields=[name for name in form.changed_data if name != "reason"])


@admin.register(Store)
class StoreAdmin(Switches):
    operation = roles.STORE_SETTINGS
    list_display = ["label", "place", "of_platform", "verified", "created", "dispatch"]
    list_filter = ["is_platform", "settlement_currency"]
    list_select_related = ["platform"]
    search_fields = ["id", "^name"]
    search_help_text = "Store ID, or the beginning of its name"
    ordering = ["-created_at"]
    label = lists.text("name", "Store")
    place = lists.country()
    of_platform = lists.text("platform", "Platform")
    verified = lists.when("kyc_confirmed_at", "Verified")
    created = lists.when("created_at", "Created")
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
        "invoice_due_days",
        "support_email",
        "remove_service_branding",
    )

    @admin.display(description="Cards and agents")
    def dispatch(self, row: Store) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["dispatch"])
        return format_html('<a href="{}?store={}">Change</a>', page, row.pk)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly):
    list_display = ["done", "action", "who", "target", "why", "address"]
    search_fields = ["id", "store_id"]
    search_help_text = "Store ID, or number of the entry"
    done = lists.when("at", "Time")
    who = lists.text("actor_name", "Who")
    target = lists.text("target_name", "What")
    why = lists.text("reason", "Reason")
    ordering = ["-id"]
