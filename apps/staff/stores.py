"""Stores for staff: an overview of each (apps.staff.store_overview), then its settings in parts,
each with its own Save, which shows what would change first. What takes two is requested
(apps.staff.decisions.approvals)."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, cast
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html

from apps.core import clock
from apps.core.errors import Failure
from apps.core.templatetags.tillgate import badge
from apps.core.text.durations import duration_text
from apps.core.web.forms import typographic
from apps.staff import lists, store_overview
from apps.staff.decisions.asking import BACK, CONFIRMED
from apps.staff.pages import Part, Switches, SwitchForm, reason_field, typed_reason
from apps.staff.plumbing.seen import SEEN
from apps.stores import staff_roles
from apps.stores.emailing import settings_emails
from apps.stores.models import Member, Store, User
from apps.stores.settings import (
    columns_of,
    model_of,
    rows_of,
    setting_label,
    settings_models,
    values_of,
    write_settings,
)
from apps.stores.staff import suspensions, terms

PART = "part"  # the hidden input that says which settings are saved


class Members(Part):
    """Members of the store, whose roles take two members of staff to change."""

    model = Member
    fields = ["user", "role", "created_at", "change_role"]
    readonly_fields = ["user", "role", "created_at", "change_role"]
    list_select_related = ["user"]

    @admin.display(description="Change")
    def change_role(self, row: Member) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["member_role"])
        query = {"store": row.store_id, "email": row.user.email, "role": row.role}
        return format_html('<a href="{}?{}">Change role</a>', page, urlencode(query))


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
        columns = [name for name in self.base_fields if model_of(name) is not None]
        self.initial = {**values_of(self.instance, columns), **self.initial}
        self.initial[SEEN] = self.seen_now

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


@dataclass(frozen=True)
class SettingsPart:
    """Settings that are saved together, and the form of a page with them. It is open after it was
    refused."""

    key: str
    title: str
    form: Any
    is_open: bool = False


# Groups of settings, by the name that its form is sent with.
PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "payments": (
        "Payments",
        (
            "accept_overpayments",
            "overpayment_tolerance_bps",
            "accept_underpayments",
            "underpayment_tolerance_bps",
            "customer_pays_fee",
        ),
    ),
    "fees": (
        "Fees",
        ("fee_fraction", "platform_fee_fraction", "platform_fee_ceiling_fraction"),
    ),
    "payouts": (
        "Payouts",
        ("payout_network_fee", "payout_review_threshold_cents", "review_new_destinations"),
    ),
    "platform": ("Platform", ("is_platform", "platform_may_pay_out")),
    "checkout": (
        "Invoices and checkout",
        ("invoice_due_days", "support_email", "remove_service_branding"),
    ),
}


class StoreAdmin(Switches):
    model = Store
    change_form_template = "staff/store.html"
    help_texts: ClassVar = {
        "customer_pays_fee": "Adds the fee to what customers pay instead of deducting it.",
        "fee_fraction": "Share of each payment that the service keeps.",
        "invoice_due_days": "For invoices that don’t set a due date.",
        "payout_review_threshold_cents": "Staff review larger payouts. Leave empty to review none.",
        "platform_fee_ceiling_fraction": (
            "Of a platform: none of its sub-merchants pays it more. Leave empty for no ceiling."
        ),
        "platform_fee_fraction": "Share of each payment that the store’s platform keeps.",
        "platform_may_pay_out": (
            "Lets the platform pay out its sub-merchants’ coins to any address."
        ),
        "support_email": "Shown to customers.",
    }
    is_named = True
    form = StoreForm
    operation = staff_roles.STORE_SETTINGS
    list_display = ["label", "place", "of_platform", "verified", "created", "state"]
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
    switches = tuple(name for _, names in PARTS.values() for name in names)

    @classmethod
    def label_of(cls, name: str) -> str:
        return setting_label(name)

    def get_form(
        self, request: HttpRequest, obj: Any | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        names = self._typed_in(request, obj)
        fields: dict[str, forms.Field] = {
            name: self._input(request, model._meta.get_field(name))
            for model in settings_models()
            for name in columns_of(model)
            if name in names
        }
        fields["reason"] = reason_field("Why you are changing this. Saved in the audit log.")
        fields["reason"].required = CONFIRMED in request.POST
        form = type(self.form.__name__, (self.form,), fields)
        labels = {name: setting_label(name) for name in _all_columns()}
        return super().get_form(request, obj, change, **{"form": form, "labels": labels, **kwargs})

    def _typed_in(self, request: HttpRequest, obj: Any) -> tuple[str, ...]:
        """The settings that this form has: those of the part that is saved, or drawn now; all of
        them for who only reads."""
        if not self.has_change_permission(request, obj):
            return self.switches
        part = getattr(request, "store_part", "") or request.POST.get(PART, "")
        return PARTS[part][1] if part in PARTS else ()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Fields, with the store's identity before its settings. Who only reads sees all in one
        list."""
        names = list(super().get_fields(request, obj))
        if self.has_change_permission(request, obj):
            typed = self._typed_in(request, obj)
            names = [name for name in names if name not in self.switches or name in typed]
        first = [name for name in ("id", "name", "country", "created_at") if name in names]
        return [*first, *(name for name in names if name not in first)]

    def get_inline_instances(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Members are only looked at: no form of the page has them."""
        is_sent = request.method == "POST"
        return [] if is_sent else super().get_inline_instances(request, obj)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        """A part of the settings is shown as what would change before it is saved."""
        if (
            request.method == "POST"
            and object_id is not None
            and self.has_change_permission(request)
        ):
            if request.POST.get(PART) not in PARTS or BACK in request.POST:
                return HttpResponseRedirect(request.path, status=303)
            if CONFIRMED not in request.POST:
                reviewed = self._review(request, object_id)
                if reviewed is not None:
                    return reviewed
        return super().changeform_view(request, object_id, form_url, extra_context)

    def _review(self, request: HttpRequest, object_id: str) -> HttpResponse | None:
        """None for who may not change it, and for what the page itself has to refuse."""
        store = self.get_object(request, object_id)
        if store is None or not self.has_change_permission(request, store):
            return None
        form = self.get_form(request, store, change=True)(request.POST, instance=store)
        if request.POST.get(SEEN) != form.seen_now or not form.is_valid():
            return None
        fresh = Store.objects.get(pk=store.pk)
        typed = {name: form.cleaned_data[name] for name in form.changed_data if name != "reason"}
        if not typed:
            messages.warning(request, "Nothing would change")
            return HttpResponseRedirect(request.path, status=303)
        _, for_two = terms.split(values_of(fresh, list(typed)), typed)
        fields = [
            (name, value)
            for name, values in request.POST.lists()
            for value in values
            if name not in ("csrfmiddlewaretoken", "code", "reason")
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": f"{PARTS[request.POST[PART]][0]} of {fresh.name}",
            "opts": self.opts,
            "list_name": self.list_name,
            "lines": terms.lines_of(fresh, typed),
            "fields": fields,
            "reason": typed_reason(request),
            "reason_help": form.fields["reason"].help_text,
            "takes_two": bool(for_two),
            "at_once": [setting_label(name) for name in typed if name not in for_two],
            "after": "After",
            "action": request.path,
        }
        return render(request, "staff/ask_review.html", context)

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **options: Any
    ) -> HttpResponse:
        """With the overview, and a form for each part of the settings."""
        store = context.get("original")
        if store is not None:
            context["overview"] = store_overview.sections_of(store, request)
            if self.has_change_permission(request, store):
                context["parts"] = list(self._parts(request, store, context["adminform"].form))
        return super().render_change_form(request, context, *args, **options)

    def _parts(self, request: HttpRequest, store: Store, sent: Any) -> Iterator[SettingsPart]:
        for key, (title, names) in PARTS.items():
            if request.POST.get(PART) == key:
                form, is_open = sent, True
            else:
                request.store_part = key  # type: ignore[attr-defined]  # read by get_form
                made = self.get_form(request, store, change=True)
                form, is_open = made(instance=store, auto_id=f"id_{key}_%s"), False
            form.order_fields(names)
            yield SettingsPart(key, title, form, is_open)
        request.store_part = ""  # type: ignore[attr-defined]  # nothing is drawn any more

    def _input(self, request: HttpRequest, column: Any) -> Any:
        label = setting_label(column.name)
        help_text = self.help_texts.get(column.name, "")
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
        """Saves changes, and requests those that take two."""
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
                settings_emails.tell(obj, f"staff_terms:{uuid.uuid4()}", lines)
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

    @admin.display(description="Status")
    def state(self, row: Store) -> str:
        """Suspended parts of it, or that it is open."""
        if row.deleted_at is not None:
            return badge("store", "closed")
        return badge("store", "suspended" if suspensions.parts_of(row) else "open")
