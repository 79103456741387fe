"""Stores for staff: the settings that one of them changes, and what is seen of a store beside a
decision. What takes two is linked to from here (apps.staff.approvals)."""

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
from apps.core.countries import country_name
from apps.core.durations import duration_text
from apps.core.errors import Failure
from apps.core.templatetags.tillgate import moment, status_words
from apps.core.web.forms import typographic
from apps.staff import lists
from apps.staff.pages import Part, Switches, SwitchForm, typed_reason
from apps.staff.queues import Section
from apps.stores import settings_letters, staff_roles, terms
from apps.stores.models import AuditEntry, Member, Store, User, Verification
from apps.stores.settings import (
    columns_of,
    model_of,
    rows_of,
    setting_label,
    settings_models,
    values_of,
    write_settings,
)

LINES_MAX = 5
LOOKED_AT_MAX = 1_000


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


class StoreAdmin(Switches):
    model = Store
    help_texts: ClassVar = {
        "customer_pays_fee": "Adds the fee to what customers pay instead of deducting it.",
        "fee_fraction": "Share of each payment that the service keeps.",
        "invoice_due_days": "For invoices that don’t set a due date.",
        "kyc_confirmed_at": (
            "UTC, such as 2026-11-23 14:30. Empty while the business isn’t verified."
        ),
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

    @classmethod
    def label_of(cls, name: str) -> str:
        return setting_label(name)

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
        labels = {name: setting_label(name) for name in _all_columns()}
        return super().get_form(request, obj, change, **{"form": form, "labels": labels, **kwargs})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What it is comes before how it is set up."""
        names = super().get_fields(request, obj)
        first = [name for name in ("id", "name", "country", "created_at") if name in names]
        return [*first, *(name for name in names if name not in first)]

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
                settings_letters.tell(obj, f"staff_terms:{uuid.uuid4()}", lines)
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


def store_section(store: Store) -> Section:
    """Who it is, for how long, and whether its business is known. Two statements."""
    last = Verification.objects.filter(store=store).order_by("-created_at").first()
    facts: list[tuple[str, Any]] = [
        ("Name", store.name),
        ("Country", country_name(store.country) or "Unknown"),
        ("Created", moment(store.created_at)),
        ("Business", _business(store, last)),
        ("Members", store.members.count()),
    ]
    if store.platform is not None:
        facts.append(("Platform", store.platform.name))
    return Section(
        "Store", facts, reverse("admin:stores_store_change", args=[store.pk]), "Open store"
    )


def _business(store: Store, last: Verification | None) -> str:
    name = last.business_legal_name if last is not None else ""
    if store.kyc_confirmed_at is not None:
        return f"Verified: {name}" if name else "Verified"
    if last is None:
        return "Nothing submitted"
    return f"{status_words('verification', last.status)}: {name}"


def decisions(store: Store, *actions: str) -> list[tuple[str, Any]]:
    """The last of these in the store's log, as far back as its last thousand lines."""
    newest = (
        AuditEntry.objects.filter(store_id=store.pk).order_by("-id").values("pk")[:LOOKED_AT_MAX]
    )
    entries = AuditEntry.objects.filter(pk__in=newest, action__in=actions).order_by("-id")[
        :LINES_MAX
    ]
    return [
        (
            moment(entry.at),
            " · ".join(
                text for text in (_done(entry.action), entry.actor_name, entry.reason) if text
            ),
        )
        for entry in entries[:LINES_MAX]
    ]


def _done(action: str) -> str:
    return action.partition(".")[2].replace("_", " ").capitalize()
