"""Payouts for staff: those in review are decided, bank accounts verified, caps set; everything else is looked at only."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from apps.core import staff_roles
from apps.core.staff import Queue, ReadOnly, Switches, button
from apps.payouts.approval_models import PayoutApproval
from apps.payouts.models import Destination, Payout, Schedule, StorePayoutCap
from apps.payouts.services.caps import set_store_cap
from apps.payouts.services.destinations import set_verified
from apps.payouts.services.review import approve_payout, needs_two, reject_payout, worth_text


@admin.register(Payout)
class PayoutAdmin(Queue):
    list_display = [
        "created_at",
        "store",
        "mode",
        "rail",
        "asset",
        "amount_atomic",
        "status",
        "review_reason",
        "pending_reason",
        "decision",
    ]
    list_filter = ["status", "mode", "rail", "funds", "pending_reason"]
    list_select_related = ["store", "asset", "approval"]
    search_fields = ["=id", "=store__id", "store__name", "=destination_address", "=tx_hash", "=provider_tx_id"]
    ordering = ["-created_at"]
    waiting = Payout.Status.REQUIRES_REVIEW
    approving, rejecting = staff_roles.PAYOUT_APPROVE, staff_roles.PAYOUT_REJECT

    def is_waiting(self, row: Any) -> bool:
        return super().is_waiting(row) and not _is_for_the_merchant(row)

    def shown_status(self, row: Any) -> str:
        return "waits for a second person of the store" if _is_for_the_merchant(row) else super().shown_status(row)

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        decided = approve_payout(row, reason, staff)
        if isinstance(decided, Payout):
            return "approved"
        return "a second member of staff has been asked, and lets it go among the staff requests"

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        reject_payout(row, reason, staff)
        return "rejected"

    def more_facts(self, row: Any) -> list[tuple[str, Any]]:
        return [("worth now", worth_text(row)), ("people", "two" if needs_two(row) else "one")]


def _is_for_the_merchant(payout: Payout) -> bool:
    return payout.approval is not None and payout.approval.status == PayoutApproval.Status.WAITING


@admin.register(Destination)
class DestinationAdmin(ReadOnly):
    list_display = ["created_at", "store", "mode", "kind", "network", "address", "currency", "holder", "account_hint", "verified_at"]
    list_filter = ["kind", "mode", "currency"]
    list_select_related = ["store"]
    search_fields = ["=id", "=store__id", "store__name", "=address", "holder"]
    ordering = ["-created_at"]
    exclude = ["account_sealed"]
    actions = ["verify", "take_back"]

    @button(staff_roles.BANK_VERIFY, "The bank account is the store's: verify it")
    def verify(self, request: HttpRequest, rows: "models.QuerySet[Destination]") -> None:
        self._set(rows, True)

    @button(staff_roles.BANK_VERIFY, "Take the verification back")
    def take_back(self, request: HttpRequest, rows: "models.QuerySet[Destination]") -> None:
        self._set(rows, False)

    @staticmethod
    def _set(rows: "models.QuerySet[Destination]", is_verified: bool) -> None:
        for row in rows.filter(kind=Destination.Kind.BANK, removed_at=None).select_related("store"):
            set_verified(row, is_verified)


@admin.register(Schedule)
class ScheduleAdmin(ReadOnly):
    list_display = ["created_at", "store", "mode", "asset", "frequency", "next_payout_at", "last_skip_reason", "last_failure", "is_active"]
    list_filter = ["mode", "frequency", "is_active"]
    list_select_related = ["store", "asset"]
    search_fields = ["=id", "=store__id", "store__name"]
    ordering = ["-created_at"]


@admin.register(StorePayoutCap)
class StorePayoutCapAdmin(Switches):
    operation = staff_roles.PAYOUT_CAPS
    list_display = ["store", "asset", "per_tx_atomic", "daily_atomic"]
    list_select_related = ["store", "asset"]
    search_fields = ["=store__id", "store__name", "=asset__id"]
    switches = ("per_tx_atomic", "daily_atomic")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        set_store_cap(obj.store, obj.asset_id, **{name: form.cleaned_data[name] for name in form.changed_data})
