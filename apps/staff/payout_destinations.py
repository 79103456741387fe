"""Payout destinations for staff, who verify bank accounts."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.html import format_html

from apps.payouts.models import Destination
from apps.payouts.services.bank_reviews import reject_bank, revoke_verification, verify_bank
from apps.payouts.services.destinations import network_name
from apps.staff import lists
from apps.staff.decisions.queues import Queue, Section
from apps.staff.pages import button, typed_reason
from apps.staff.payouts import balances_of, payouts_of
from apps.staff.plumbing import times
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.store_facts import decisions, store_section
from apps.stores import staff_roles


class BankReviewFilter(admin.SimpleListFilter):
    """Filter by the state of a bank account's review."""

    title = "status"
    parameter_name = "review"

    def lookups(self, request: Any, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("pending", "To decide"),
            ("verified", "Verified"),
            ("rejected", "Rejected"),
        ]

    def queryset(self, request: Any, queryset: "models.QuerySet[Any]") -> "models.QuerySet[Any]":
        banks = queryset.filter(kind=Destination.Kind.BANK, removed_at=None)
        unverified = banks.filter(verified_at=None)
        chosen = {
            "pending": unverified.filter(rejected_at=None),
            "verified": banks.exclude(verified_at=None),
            "rejected": unverified.exclude(rejected_at=None),
        }
        return chosen.get(self.value() or "", queryset)


class DestinationAdmin(Queue):
    model = Destination
    labels: ClassVar = {
        "account_hint": "Account ending in",
        "cools_until": "Waiting period ends",
        "created_at": "Added",
        "holder": "Account holder",
    }
    is_named = True
    list_display = ["shop", "kind", "account", "holder_name", "created", "decision"]
    list_filter = ["kind", BankReviewFilter, "mode"]
    list_select_related = ["store__platform"]
    search_fields = ["id", "address", "store"]
    search_help_text = "Destination ID, wallet address, or the beginning of a store’s name"
    created = lists.made("created_at", "Added")
    holder_name = lists.text("holder", "Account holder")
    ordering = [BY_KEY]
    exclude = ["account_sealed"]
    actions = ["take_back"]
    value_texts: ClassVar = {"network": lambda row: network_name(row) if row.is_wallet else ""}
    noun = "bank_account"
    approving = rejecting = staff_roles.BANK_VERIFY
    approves = "Verify"

    def title_of(self, row: Destination) -> str:
        return str(row)

    def subject_of(self, row: Destination) -> str:
        return f"{row if row.is_wallet else row.account_name} for {row.store}"

    @admin.display(description="Account")
    def account(self, row: Destination) -> str:
        if row.is_wallet:
            return lists.by_its_ends(row.address, network_name(row))
        return format_html('<span class="one-line">{}</span>', row.account_name)

    @admin.display(description="Status")
    def decision(self, row: Destination) -> str:
        if row.is_wallet:
            return format_html('<span class="one-line">{}</span>', "No review needed")
        return super().decision(row)

    def decision_facts(self, row: Any) -> list[tuple[str, Any]]:
        return [
            ("account", row.account_name),
            ("account holder", row.holder),
            ("label", row.label),
            ("mode", row.get_mode_display()),
            ("added", times.made_text(row, row.created_at)),
            ("rejected for", row.rejection_reason),
        ]

    def sections(self, row: Any) -> list[Section]:
        return bank_sections(row)

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        return str(verify_bank(row, reason).status)

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        return str(reject_bank(row, reason).status)

    @button(staff_roles.BANK_VERIFY, "Revoke verification")
    def take_back(self, request: HttpRequest, rows: "models.QuerySet[Destination]") -> None:
        for row in rows.filter(kind=Destination.Kind.BANK, removed_at=None).exclude(
            verified_at=None
        ):
            revoke_verification(row, typed_reason(request))
            self.log_change(request, row, "Verification revoked")


def bank_sections(bank: Destination) -> list[Section]:
    """Of a bank account to be verified: whose it is to be, and what they have paid out."""
    decided = decisions(bank.store, "payout_destination.verified", "payout_destination.rejected")
    return [
        store_section(bank.store),
        payouts_of(bank.store, bank.mode),
        balances_of(bank.store, bank.mode),
        Section("Earlier decisions", decided, without="No bank account has been reviewed yet."),
    ]
