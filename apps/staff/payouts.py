"""Payouts for staff: those in review, bank accounts and stopped assets are decided, caps set;
everything else is looked at only."""

from collections import Counter
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest
from django.utils.html import format_html

from apps.assets.models import AcceptedAsset
from apps.assets.reviews import end_review, keep_stopped
from apps.chain.models import OutgoingTransaction
from apps.core.errors import Failure
from apps.core.templatetags.tillgate import badge, fiat, moment, shorten
from apps.core.words import code_words
from apps.payouts import states
from apps.payouts.approval_models import ApprovalRule, PayoutApproval
from apps.payouts.models import Destination, Payout, Schedule, StorePayoutCap
from apps.payouts.services.bank_reviews import reject_bank, revoke_verification, verify_bank
from apps.payouts.services.caps import set_store_cap
from apps.payouts.services.destinations import network_name
from apps.payouts.services.offramp import transfer_of
from apps.payouts.services.review import approve_payout, needs_two, reject_payout, release_held
from apps.staff import lists
from apps.staff.pages import (
    Queue,
    ReadOnly,
    ReasonForm,
    Section,
    Switches,
    button,
    typed_reason,
)
from apps.staff.payout_facts import (
    bank_sections,
    payout_sections,
    stopped_asset_sections,
    worth_text,
)
from apps.staff.plumbing import commands, fresh_code, times
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.worth import Rated
from apps.stores import staff_roles


class CodeForm(ReasonForm):
    """With the code that money leaving takes."""

    code = forms.CharField(label="Code of your authenticator app", required=False, max_length=20)


@admin.register(Payout)
class PayoutAdmin(Rated, Queue):
    list_display = ["created", "shop", "amount", "to", "why", "decision"]
    list_filter = [lists.since("created_at"), "status", "mode", "rail"]
    list_select_related = ["store__platform", "asset__chain", "approval", "destination", "maker"]
    search_fields = ["id", "destination_address", "destination", "store"]
    search_help_text = "Payout ID, destination address or ID, or the beginning of a store’s name"
    created = lists.made("created_at", "Created")
    shop = lists.store()
    amount = lists.coins()
    ordering = [BY_KEY]
    says_nothing: ClassVar = {"submitted_real_at": lists.is_submitted_in_real_time}
    noun = "payout"
    value_texts: ClassVar = {
        "review_reason": lambda row: _reason(row),
        "status": lambda row: badge("payout", row.shown_status),
        "worth_cents": lambda row: _worth_when_created(row),
    }
    takes_code = True
    actions = ["release"]
    action_form = CodeForm
    waiting = Payout.Status.REQUIRES_REVIEW
    approving = staff_roles.PAYOUT_APPROVE
    rejecting = staff_roles.PAYOUT_REJECT

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Payout]":
        rows: models.QuerySet[Payout] = super().get_queryset(request)
        return rows.defer("destination__account_sealed")  # which web may not read

    def title_of(self, row: Payout) -> str:
        return f"of {lists.coins_text(row)}"

    @admin.display(description="Reason for review", empty_value=lists.NOTHING)
    def why(self, row: Payout) -> str | None:
        return _reason(row) or None

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
            "Waiting for the store’s approval"
            if _is_for_the_merchant(row)
            else super().shown_status(row)
        )

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        decided = approve_payout(row, reason, staff)
        if isinstance(decided, Payout):
            return "approved"
        return "sent for a second approval, under Staff requests"

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        reject_payout(row, reason, staff)
        return "rejected"

    @button(staff_roles.PAYOUT_APPROVE, "Release those that waited for a stopped coin")
    def release(self, request: HttpRequest, rows: "models.QuerySet[Payout]") -> None:
        """Each as if it was approved alone; what waits for something else is left."""
        try:
            self.take_code(request)
        except Failure as refusal:
            messages.error(request, refusal.text)
            return
        done: Counter[str] = Counter()
        for row in rows.filter(status=self.waiting):
            try:
                done[release_held(row, typed_reason(request), request.user)] += 1  # type: ignore[arg-type]  # staff are people
            except Failure:
                done["left as they were"] += 1
        messages.info(request, ", ".join(f"{count} {outcome}" for outcome, count in done.items()))

    def take_code(self, request: HttpRequest) -> None:
        fresh_code.take(request)

    def decision_facts(self, row: Any) -> list[tuple[str, Any]]:
        return [
            ("amount", lists.coins_text(row)),
            ("worth now", worth_text(row)),
            ("asset", row.asset.full_name),
            ("to", _target(row)),
            ("mode", row.get_mode_display()),
            ("created", times.made_text(row, row.created_at)),
            *_review_facts(row),
        ]

    def sections(self, row: Any) -> list[Section]:
        return payout_sections(row)

    def needs_reason(self, row: Any) -> bool:
        return needs_two(row)


def _review_facts(payout: Payout) -> list[tuple[str, Any]]:
    """Who has to decide, and why."""
    if _is_for_the_merchant(payout) and payout.approval is not None:
        return [("store approval", f"Waiting, requested by {payout.approval.made_by}")]
    needed = "Two: this amount needs a second approval and a reason"
    return [
        ("reason for review", _reason(payout)),
        ("settled by", commands.shown("", _commands(payout))),
        ("approvals needed", needed if needs_two(payout) else "One"),
    ]


def _commands(payout: Payout) -> list[str]:
    """What has to be typed before it can be decided: its transaction is in review."""
    row = transfer_of(payout)
    is_in_review = row is not None and row.status == OutgoingTransaction.Status.REVIEW
    return commands.of_outgoing(row) if row is not None and is_in_review else []


def _target(payout: Payout) -> str:
    bank = payout.destination
    if payout.destination_address or bank is None:
        return str(payout.destination_address)
    return str(bank)


def _reason(payout: Payout) -> str:
    """Why it is under review."""
    return states.REASON_WORDS.get(payout.review_reason, payout.review_reason)


def _worth_when_created(payout: Payout) -> str | None:
    """In the currency of the store's rule, which it was judged by."""
    if payout.worth_cents is None:
        return None
    rule = payout.approval or ApprovalRule.objects.get(store=payout.store_id, mode=payout.mode)
    return fiat(payout.worth_cents, rule.currency)


def _is_for_the_merchant(payout: Payout) -> bool:
    return payout.approval is not None and payout.approval.status == PayoutApproval.Status.WAITING


class BankReviewFilter(admin.SimpleListFilter):
    """Where the review of a bank account stands."""

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


@admin.register(Destination)
class DestinationAdmin(Queue):
    is_named = True
    list_display = ["shop", "kind", "account", "holder_name", "created", "decision"]
    list_filter = ["kind", BankReviewFilter, "mode"]
    list_select_related = ["store__platform"]
    search_fields = ["id", "address", "store"]
    search_help_text = "Destination ID, wallet address, or the beginning of a store’s name"
    created = lists.made("created_at", "Added")
    shop = lists.store()
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


@admin.register(AcceptedAsset)
class AcceptedAssetAdmin(Queue):
    """Assets of stores; those that were stopped for review wait for a decision."""

    is_named = True
    list_display = ["shop", "coin", "stopped", "reviewed", "decision"]
    list_display_links = ["shop"]
    list_filter = [
        lists.present("suspended_at", "status", "Stopped for review", "In use"),
        lists.present("reviewed_at", "review", "Kept stopped", "Not decided"),
        "mode",
        ("asset", lists.AssetFilter),
    ]
    list_select_related = ["store__platform", "asset__chain"]
    search_fields = ["store"]
    search_help_text = "Store ID, or the beginning of a store’s name"
    shop = lists.store()
    coin = lists.asset()
    stopped = lists.when("suspended_at", "Stopped for review")
    reviewed = lists.when("reviewed_at", "Kept stopped")
    actions = ["end_review"]
    noun = "accepted_asset"
    approving = rejecting = staff_roles.ASSET_REVIEW
    heading = "What was stopped"
    readonly_fields = ["state"]
    approves = "Accept the asset again"
    rejects = "Keep it stopped"
    rejection_is_told_to = "The store sees this if you keep it stopped."

    def title_of(self, row: AcceptedAsset) -> str:
        return row.asset.full_name

    @admin.display(description="Status")
    def state(self, row: AcceptedAsset) -> str:
        return badge(self.noun, row.status)

    def subject_of(self, row: AcceptedAsset) -> str:
        return f"{row.asset.full_name} for {row.store}"

    def decision_facts(self, row: Any) -> list[tuple[str, Any]]:
        return [
            ("asset", row.asset.full_name),
            ("mode", row.get_mode_display()),
            ("stopped", moment(row.suspended_at) if row.suspended_at else ""),
            ("kept stopped for", row.review_reason),
        ]

    def sections(self, row: Any) -> list[Section]:
        return stopped_asset_sections(row)

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        end_review(row, reason)
        return "accepted again"

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        keep_stopped(row, reason)
        return "kept stopped"

    @button(staff_roles.ASSET_REVIEW, "End review: accept the asset again")
    def end_review(self, request: HttpRequest, rows: "models.QuerySet[AcceptedAsset]") -> None:
        """Also of those that were kept stopped."""
        for row in rows.exclude(suspended_at=None):
            end_review(row, typed_reason(request))
            self.log_change(request, row, "Review ended")


@admin.register(Schedule)
class ScheduleAdmin(ReadOnly):
    list_display = ["shop", "coin", "frequency", "next_payout", "last_result", "running"]
    says_nothing: ClassVar = {"anchor_day": lambda row: row.frequency != Schedule.Frequency.MONTHLY}
    running = lists.flag("is_active", "Active")
    list_filter = ["mode", "frequency", "is_active"]
    list_select_related = ["store", "asset__chain"]
    search_fields = ["id", "store"]
    search_help_text = "Schedule ID, or the beginning of a store’s name"
    shop = lists.store()
    coin = lists.asset()
    next_payout = lists.by_store("next_payout_at", "Next payout")
    ordering = ["-created_at"]
    exclude = ["minimum_fiat_currency"]  # the minimum itself is shown in it

    def title_of(self, row: Schedule) -> str:
        return f"of {row.store}, {row.asset.full_name}"

    @admin.display(description="Last result")
    def last_result(self, row: Schedule) -> str | None:
        return row.last_failure or code_words(row.last_skip_reason or "") or None


@admin.register(StorePayoutCap)
class StorePayoutCapAdmin(Rated, Switches):
    operation = staff_roles.PAYOUT_CAPS
    list_display = ["shop", "coin", "per_transaction", "per_day"]
    list_select_related = ["store", "asset__chain"]
    search_fields = ["store", "asset"]
    search_help_text = "Asset, or the beginning of a store’s name"
    shop = lists.store()
    coin = lists.asset()
    per_transaction = lists.coins("per_tx_atomic", description="Per payout")
    per_day = lists.coins("daily_atomic", description="Per day")
    switches = ("per_tx_atomic", "daily_atomic")

    def title_of(self, row: StorePayoutCap) -> str:
        return f"of {row.store}, {row.asset.full_name}"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        set_store_cap(
            obj.store,
            obj.asset_id,
            **{name: form.cleaned_data[name] for name in form.changed_data if name != "reason"},
        )
