"""Platforms for staff, who decide about stores that want to be one."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from apps.core.templatetags.tillgate import badge, moment, shorten
from apps.payouts.services.destinations import network_name
from apps.platforms.models import AccessRequest, DestinationConfirmation, OnboardingLink
from apps.platforms.services import access_requests
from apps.platforms.services.confirmations import state_of
from apps.staff import lists
from apps.staff.decisions.queues import Queue, Section
from apps.staff.pages import ReadOnly
from apps.staff.store_facts import store_section
from apps.stores import staff_roles

_PURPOSES = {**dict(OnboardingLink.Purpose.choices), "kyb": "Business verification"}


class AccessRequestAdmin(Queue):
    model = AccessRequest
    names = ("platform access request", "platform access requests")
    list_display = ["created", "shop", "why", "reviewed", "decision"]
    list_filter = ["status"]
    list_select_related = ["store"]
    search_fields = ["id", "store"]
    search_help_text = "Request ID, or the beginning of a store’s name"
    created = lists.when("created_at", "Requested")
    why = lists.text("reason", "Reason")
    reviewed = lists.when("reviewed_at", "Decided")
    ordering = ["-created_at"]
    noun = "access_request"
    approving = rejecting = staff_roles.PLATFORM_ACCESS

    def title_of(self, row: AccessRequest) -> str:
        return f"of {row.store}"

    def decision_facts(self, row: Any) -> list[tuple[str, Any]]:
        return [("reason", row.reason), ("requested", moment(row.created_at))]

    def sections(self, row: Any) -> list[Section]:
        return [store_section(row.store)]

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        return str(access_requests.approve_access(row, reason).status)

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        return str(access_requests.reject_access(row, reason).status)


class OnboardingLinkAdmin(ReadOnly):
    model = OnboardingLink
    list_display = ["created", "shop", "of_account", "what_for", "expires", "completed"]
    list_filter = ["mode", lists.choices("purpose", "purpose", _PURPOSES.items())]
    list_select_related = ["store", "account"]
    search_fields = ["id", "store", "account"]
    search_help_text = "Link ID, account ID, or the beginning of the platform’s name"
    created = lists.when("created_at", "Created")
    shop = lists.store(description="Platform")
    of_account = lists.text("account", "Account")
    expires = lists.when("expires_at", "Expires")
    completed = lists.when("completed_at", "Completed")
    ordering = ["-created_at"]
    exclude = ["token_hash"]
    value_texts: ClassVar = {"purpose": lambda row: _PURPOSES[row.purpose]}

    @admin.display(description="Purpose")
    def what_for(self, row: OnboardingLink) -> str:
        return _PURPOSES[row.purpose]

    def title_of(self, row: OnboardingLink) -> str:
        return f"of {row.account}"


class DestinationConfirmationAdmin(ReadOnly):
    model = DestinationConfirmation
    names = ("contact confirmation", "contact confirmations")
    labels: ClassVar = {
        "letters": "Emails sent",
        "told_at": "Notified",
        "tries": "Wrong codes",
        "waits_until": "Waiting period ends",
    }
    list_display = ["created", "shop", "where", "who", "waits", "state"]
    list_select_related = ["store", "destination"]
    search_fields = ["id", "store", "destination"]
    search_help_text = "ID, destination ID, or the beginning of a store’s name"
    nothing = (
        "No contact confirmations yet. When an onboarding link names a live destination, the"
        " business’s contact confirms it, and the confirmation appears here."
    )
    created = lists.when("created_at", "Created")
    who = lists.text("contact", "Contact")
    waits = lists.when("waits_until", "Waiting period ends")
    ordering = ["-created_at"]
    exclude = ["code_hash"]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[DestinationConfirmation]":
        rows: QuerySet[DestinationConfirmation] = super().get_queryset(request)
        return rows.defer("destination__account_sealed")  # which web may not read

    @admin.display(description="Destination")
    def where(self, row: DestinationConfirmation) -> str:
        saved = row.destination
        if not saved.is_wallet:
            return format_html('<span class="one-line">{}</span>', saved.account_name)
        return lists.by_its_ends(saved.address or "", network_name(saved))

    @admin.display(description="Status")
    def state(self, row: DestinationConfirmation) -> str:
        return badge("destination_confirmation", state_of(row))

    def title_of(self, row: DestinationConfirmation) -> str:
        return f"of {shorten(row.destination.address or '') or row.destination}"
