"""Payouts for staff: those in review are decided, bank accounts verified, caps set; everything else
is looked at only."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.html import format_html

from apps.access import staff_code
from apps.assets.staff_worth import Rated
from apps.core.staff import lists, roles
from apps.core.staff.labels import code_words
from apps.core.staff.pages import Queue, ReadOnly, Section, Switches, button
from apps.core.templatetags.tillgate import moment, shorten
from apps.payouts.approval_models import PayoutApproval
from apps.payouts.models import Destination, Payout, Schedule, StorePayoutCap
from apps.payouts.services.caps import set_store_cap
from apps.payouts.services.destinations import set_verified
from apps.payouts.services.review import approve_payout, needs_two, reject_payout
from apps.payouts.staff_facts import payout_sections, worth_text


@admin.register(Payout)
class PayoutAdmin(Rated, Queue):
    list_display = ["created", "shop", "amount", "to", "why", "decision"]
    list_filter = [lists.since("created_at"), "status", "mode", "rail"]
    list_select_related = ["store__platform", "asset", "approval", "destination", "maker"]
    search_fields = ["id", "destination_address", "destination", "store"]
    search_help_text = "Payout ID, destination address or ID, or the beginning of a store’s name"
    created = lists.when("created_at", "Created")
    shop = lists.store()
    amount = lists.coins()
    why = lists.text("review_reason", "Reason for review")
    ordering = ["-created_at"]
    noun = "payout"
    takes_code = True
    waiting = Payout.Status.REQUIRES_REVIEW
    approving = roles.PAYOUT_APPROVE
    rejecting = roles.PAYOUT_REJECT

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Payout]":
        rows: models.QuerySet[Payout] = super().get_queryset(request)
        return rows.defer("destination__account_sealed")  # which web may not read

    def title_of(self, row: Payout) -> str:
        return f"of {lists.coins_text(row)}"

    @admin.display(description="To")
    def to(self, row: Payout) -> str:
        bank = row.destination
        if row.destination_address or bank is None:
            return format_html(
                '<bdi class="code" title="{}">{}</bdi>',
                row.destination_address,
                shorten(row.destination_address or ""),
            )
        return format_html('<bdi class="name">{}</bdi>', bank)

    def is_waiting(self, row: Any) -> bool:
        return super().is_waiting(row) and not _is_for_the_merchant(row)

    def shown_status(self, row: Any) -> str:
        return (
            "waits for a second person of the store"
            if _is_for_the_merchant(row)
            else super().shown_status(row)
        )

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        decided = approve_payout(row, reason, staff)
        if isinstance(decided, Payout):
            return "approved"
        return "sent to a second member of staff for approval, under staff requests"

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        reject_payout(row, reason, staff)
        return "rejected"

    def take_code(self, request: HttpRequest) -> None:
        staff_code.take(request)

    def decision_facts(self, row: Any) -> list[tuple[str, Any]]:
        return [
            ("amount", lists.coins_text(row)),
            ("worth now", worth_text(row)),
            ("to", _target(row)),
            ("reason for review", row.review_reason),
            ("mode", row.get_mode_display()),
            ("created", moment(row.created_at)),
            (
                "approvals",
                "Two: this amount needs a second member of staff, and a reason"
                if needs_two(row)
                else "One is enough",
            ),
        ]

    def sections(self, row: Any) -> list[Section]:
        return payout_sections(row)

    def is_dangerous(self, row: Any) -> bool:
        return True

    def needs_reason(self, row: Any) -> bool:
        return needs_two(row)


def _target(payout: Payout) -> str:
    bank = payout.destination
    if payout.destination_address or bank is None:
        return str(payout.destination_address)
    return str(bank)


def _is_for_the_merchant(payout: Payout) -> bool:
    return payout.approval is not None and payout.approval.status == PayoutApproval.Status.WAITING


@admin.register(Destination)
class DestinationAdmin(ReadOnly):
    list_display = ["shop", "kind", "account", "holder_name", "created", "verified"]
    list_filter = [
        "kind",
        lists.present("verified_at", "verification", "Verified", "Not verified"),
        "mode",
    ]
    list_select_related = ["store"]
    search_fields = ["id", "address", "store"]
    search_help_text = "Destination ID, wallet address, or the beginning of a store’s name"
    created = lists.when("created_at", "Added")
    shop = lists.store()
    holder_name = lists.text("holder", "Account holder")
    verified = lists.when("verified_at", "Verified")
    ordering = ["-created_at"]
    exclude = ["account_sealed"]
    actions = ["verify", "take_back"]

    def title_of(self, row: Destination) -> str:
        return str(row)

    @admin.display(description="Account")
    def account(self, row: Destination) -> str:
        if row.is_wallet:
            return format_html(
                '<bdi class="code" title="{}">{}</bdi> {}',
                row.address,
                shorten(row.address),
                row.get_network_display(),
            )
        return row.account_name

    @button(roles.BANK_VERIFY, "Verify: the bank account is the store’s")
    def verify(self, request: HttpRequest, rows: "models.QuerySet[Destination]") -> None:
        self._set(request, rows, True)

    @button(roles.BANK_VERIFY, "Revoke verification")
    def take_back(self, request: HttpRequest, rows: "models.QuerySet[Destination]") -> None:
        self._set(request, rows, False)

    def _set(
        self, request: HttpRequest, rows: "models.QuerySet[Destination]", is_verified: bool
    ) -> None:
        for row in rows.filter(kind=Destination.Kind.BANK, removed_at=None).select_related("store"):
            set_verified(row, is_verified)
            self.log_change(request, row, "Verified" if is_verified else "Verification revoked")


@admin.register(Schedule)
class ScheduleAdmin(ReadOnly):
    list_display = ["shop", "coin", "frequency", "next_payout", "last_result", "running"]
    running = lists.flag("is_active", "Active")
    list_filter = ["mode", "frequency", "is_active"]
    list_select_related = ["store", "asset__chain"]
    search_fields = ["id", "store"]
    search_help_text = "Schedule ID, or the beginning of a store’s name"
    shop = lists.store()
    coin = lists.asset()
    next_payout = lists.when("next_payout_at", "Next payout")
    ordering = ["-created_at"]

    def title_of(self, row: Schedule) -> str:
        return f"of {row.store}, {row.asset.full_name}"

    @admin.display(description="Last result")
    def last_result(self, row: Schedule) -> str | None:
        return row.last_failure or code_words(row.last_skip_reason or "") or None


@admin.register(StorePayoutCap)
class StorePayoutCapAdmin(Rated, Switches):
    operation = roles.PAYOUT_CAPS
    list_display = ["shop", "coin", "per_transaction", "per_day"]
    list_select_related = ["store", "asset__chain"]
    search_fields = ["store", "asset"]
    search_help_text = "Asset, or the beginning of a store’s name"
    shop = lists.store()
    coin = lists.asset()
    per_transaction = lists.coins("per_tx_atomic", description="Per payout")
    per_day = lists.coins("daily_atomic", description="Per day")
    switches = ("per_tx_atomic", "daily_atomic")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        set_store_cap(
            obj.store,
            obj.asset_id,
            **{name: form.cleaned_data[name] for name in form.changed_data if name != "reason"},
        )
