"""People and stores for staff: the switches that one of them decides, who works where. Passwords
and money are not here.

What takes two is linked to from here, and asked for in apps.staff.approvals.
"""

import uuid
from typing import Any, ClassVar, cast
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from apps.core import clock
from apps.core.durations import duration_text
from apps.core.errors import Failure
from apps.core.web.forms import typographic
from apps.staff import lists
from apps.staff.labels import HELP_TEXTS, field_label
from apps.staff.pages import Part, Switches, SwitchForm, typed_reason
from apps.stores import staff_roles, staffing, terms
from apps.stores.models import Member, Store, User
from apps.stores.settings import (
    columns_of,
    model_of,
    rows_of,
    settings_models,
    values_of,
    write_settings,
)


class Members(Part):
    """Whose role takes two members of staff to change."""

    model = Member
    fields = ["user", "role", "created_at", "change_role"]
    readonly_fields = ["user", "role", "created_at", "change_role"]
    list_select_related = ["user"]

    @admin.display(description="Change")
    def change_role(self, row: Member) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["member_role"])
        query = {"store": row.store_id, "email": row.user.email, "role": row.role}
        return format_html('<a href="{}?{}">Change role</a>', page, urlencode(query))


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
        """What hardly anybody is comes behind the roles that people have."""
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


def _ahead(seconds: int) -> str:
    """Of a test clock."""
    return f"{duration_text(seconds)} ahead" if seconds else "Real time"


def _all_columns() -> list[str]:
    """Of the store, and of its settings."""
    further = [name for model in settings_models() for name in columns_of(model)]
    return [*(field.name for field in Store._meta.fields), *further]


class StoreForm(SwitchForm):
    """The store's own columns with those of its settings, which StoreAdmin adds as fields."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "reason" in self.fields:
            self.fields["reason"].help_text = (
                "Why you are changing this. Saved in the audit log. Fees, tolerances,"
                " verification, reviews and rights of a platform need a second approval, unless"
                " you make them stricter."
            )
        columns = [name for name in self.base_fields if model_of(name) is not None]
        self.initial = {**values_of(self.instance, columns), **self.initial}

    def clean(self) -> None:
        super().clean()
        cleaned = self.cleaned_data
        for model in settings_models():
            typed = {name: cleaned[name] for name in columns_of(model) if name in cleaned}
            row = model(store=self.instance, **typed)
            try:
                row.clean_fields(exclude={field.name for field in model._meta.fields} - {*typed})
            except forms.ValidationError as refusal:
                self.add_error(None, refusal)


@admin.register(Store)
class StoreAdmin(Switches):
    is_named = True
    form = StoreForm
    operation = staff_roles.STORE_SETTINGS
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
    value_texts: ClassVar = {
        "test_clock_target_seconds": lambda row: _ahead(row.test_clock_target_seconds),
        "test_offset_seconds": lambda row: _ahead(row.test_offset_seconds),
    }
    switches = (
        "accept_overpayments",
        "accept_underpayments",
        "underpayment_tolerance_bps",
        "overpayment_tolerance_bps",
        "customer_pays_fee",
        "fee_fraction",
        "is_platform",
        "platform_fee_fraction",
        "platform_fee_ceiling_fraction",
        "platform_may_pay_out",
        "kyc_confirmed_at",
        "payout_network_fee",
        "payout_review_threshold_cents",
        "review_new_destinations",
        "invoice_due_days",
        "support_email",
        "remove_service_branding",
    )

    def get_form(
        self, request: HttpRequest, obj: Any | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        fields = {
            name: self._input(request, model._meta.get_field(name))
            for model in settings_models()
            for name in columns_of(model)
            if name in self.switches
        }
        form = type(self.form.__name__, (self.form,), fields)
        labels = {name: field_label(name) for name in _all_columns()}
        return super().get_form(request, obj, change, **{"form": form, "labels": labels, **kwargs})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What it is comes before how it is set up."""
        names = super().get_fields(request, obj)
        first = [name for name in ("id", "name", "country", "created_at") if name in names]
        return [*first, *(name for name in names if name not in first)]

    def _input(self, request: HttpRequest, column: Any) -> Any:
        label = field_label(column.name)
        help_text = HELP_TEXTS.get(column.name, "")
        return self.formfield_for_dbfield(column, request, label=label, help_text=help_text)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        further = [
            name
            for model in settings_models()
            for name in columns_of(model)
            if name not in self.switches
        ]
        return [*super().get_readonly_fields(request, obj), *further]

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """The store with its settings beside it, whose columns are shown as its own are."""
        store = super().get_object(request, object_id, from_field)
        if store is not None:
            store.companions = rows_of(store)
            for row in store.companions:
                for name in columns_of(type(row)):
                    setattr(store, name, getattr(row, name))
        return store

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        """What takes two is requested, and all else is changed."""
        names = [name for name in form.changed_data if name in self.switches]
        fresh = Store.objects.get(pk=obj.pk)
        before = values_of(fresh, names)
        typed = {name: form.cleaned_data[name] for name in names}
        alone, for_two = terms.split(before, typed)
        columns = terms.term_columns()
        stricter = {name: value for name, value in alone.items() if name in columns}
        lines = terms.lines_of(fresh, stricter)
        for name in for_two:
            setattr(obj, name, before[name])
        # What the history and the audit log say was changed.
        form.changed_data = [name for name in form.changed_data if name not in for_two]
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            write_settings(obj, {name: v for name, v in alone.items() if model_of(name)})
            if lines:
                terms.tell(obj, f"staff_terms:{uuid.uuid4()}", lines)
        if for_two:
            self._request(request, obj, for_two)

    def _request(self, request: HttpRequest, store: Store, changes: terms.Changes) -> None:
        staff = cast(User, request.user)
        try:
            row = terms.request_terms(
                store, changes, typed_reason(request), staff, clock.real_now()
            )
        except Failure as refusal:
            messages.error(request, typographic(refusal.text))
        else:
            messages.warning(request, f"{row}: sent for a second approval")

    @admin.display(description="Cards and agents")
    def dispatch(self, row: Store) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["dispatch"])
        return format_html('<a href="{}?store={}">Change cards or agents</a>', page, row.pk)
