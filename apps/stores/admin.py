"""People and stores for staff: the switches that one of them decides, who works where. Passwords and money are not here.

What takes two is linked to from here, and asked for among the staff requests (apps.console.admin).
"""

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from apps.core import staff_roles
from apps.core.staff import Part, ReadOnly, Switches
from apps.stores import staffing
from apps.stores.models import AuditEntry, Member, Store, User


class Members(Part):
    model = Member
    operation = staff_roles.STORE_SETTINGS
    fields = ["user", "role", "created_at"]
    readonly_fields = ["user", "created_at"]


if TYPE_CHECKING:
    UserModelForm = forms.ModelForm[User]
else:
    UserModelForm = forms.ModelForm


class UserForm(UserModelForm):
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
    operation = staff_roles.ACCOUNT
    list_display = ["email", "name", "is_active", "roles", "last_login", "change_roles"]
    list_filter = ["is_active", "is_staff"]
    search_fields = ["email", "name"]
    exclude = ["password", "groups", "user_permissions", "session_version", "email_key"]
    switches = ("name", "is_active")

    @admin.display(description="Staff roles")
    def roles(self, row: User) -> str:
        return ", ".join(sorted(staff_roles.roles_of(row)))

    @admin.display(description="Change")
    def change_roles(self, row: User) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["staff_roles"])
        return format_html('<a href="{}?{}">Staff roles</a>', page, urlencode({"email": row.email}))

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        if not obj.is_active:
            staffing.leave(obj)
        obj.save(update_fields=form.changed_data)


@admin.register(Store)
class StoreAdmin(Switches):
    operation = staff_roles.STORE_SETTINGS
    list_display = ["name", "country", "settlement_currency", "is_platform", "platform", "kyc_confirmed_at", "created_at", "dispatch"]
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
    list_display = ["at", "action", "actor_kind", "actor_name", "address", "target_type", "target_name", "store_id"]
    list_filter = ["actor_kind", "mode"]
    search_fields = ["=store_id", "=action", "actor_name", "=target_id", "=request_id"]
    ordering = ["-id"]
