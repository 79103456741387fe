"""People for staff, who deactivate accounts. Roles and lost second factors take two
(apps.staff.decisions.approvals)."""

from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from apps.staff import lists
from apps.staff.pages import Switches, SwitchForm
from apps.stores import staff_roles
from apps.stores.models import User
from apps.stores.staff import staffing


class UserForm(SwitchForm):
    def clean_is_active(self) -> bool:
        if not self.cleaned_data["is_active"]:
            try:
                staffing.refuse_last_admin(self.instance)
            except staffing.StaffingRefused as refusal:
                raise forms.ValidationError(refusal.text) from None
        return bool(self.cleaned_data["is_active"])


class UserAdmin(Switches):
    model = User
    names = ("person", "people")
    labels: ClassVar = {"last_login": "Last sign-in"}
    is_named = True
    form = UserForm
    operation = staff_roles.ACCOUNT
    list_display = ["address", "label", "enabled", "roles", "signed_in", "change_roles"]
    list_filter = ["is_active", "is_staff"]
    search_fields = ["email_key", "id"]
    search_help_text = "The beginning of an email address, or a person’s ID"
    ordering = ["email_key"]
    address = lists.text("email", "Email")
    label = lists.text("name", "Name")
    enabled = lists.flag("is_active", "Active")
    signed_in = lists.when("last_login", "Last sign-in")
    exclude = ["password", "groups", "user_permissions", "session_version", "email_key"]
    switches = ("name", "is_active")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Fields, with rare rights behind the usual roles."""
        fields = [name for name in super().get_fields(request, obj) if name != "is_superuser"]
        fields.insert(fields.index("staff_roles") + 1, "is_superuser")
        return fields

    @admin.display(description="Staff roles")
    def roles(self, row: User) -> str:
        return staff_roles.role_names(row) or "—"

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
