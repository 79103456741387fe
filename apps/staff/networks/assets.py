"""Assets for staff: which are in use, their rates, and those of stores that were stopped for
review."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.assets.models import AcceptedAsset, Asset, Rate
from apps.assets.reviews import end_review, keep_stopped
from apps.chain.activation import NotReady, refuse_unready
from apps.chain.models import (
    Deposit,
)
from apps.core.templatetags.tillgate import badge, moment
from apps.payments.models import PaymentAddress
from apps.staff import lists
from apps.staff.decisions.queues import Queue, Section
from apps.staff.pages import ReadOnly, Switches, SwitchForm, button, typed_reason
from apps.staff.payouts import balances_of, coins_text, payouts_of, worth_in
from apps.staff.plumbing.values import NO_END, number_text
from apps.staff.store_facts import decisions, store_section
from apps.stores import staff_roles
from apps.stores.models import Currency

LOST_MAX = 20
CURRENCIES = Currency.values


class AssetForm(SwitchForm):
    def clean(self) -> None:
        super().clean()
        if self.cleaned_data.get("is_active") and "is_active" in self.changed_data:
            try:
                refuse_unready(self.instance)
            except NotReady as refusal:
                raise forms.ValidationError(refusal.text) from None


class AssetAdmin(Switches):
    model = Asset
    labels: ClassVar = {
        "atomic_decimals": "Decimals",
        "is_fiat_eligible": "Bank payouts",
        "min_withdrawal_atomic": "Minimum payout",
        "sweep_minimum_atomic": "Minimum sweep",
        "sweep_cost_bps": "Maximum cost of a sweep",
        "sweep_after_days": "Sweep smaller deposits after days",
    }
    help_texts: ClassVar = {
        "min_withdrawal_atomic": "Smallest payout of this asset.",
        "sweep_minimum_atomic": (
            "Deposits are swept to the hot wallet from this amount on. Empty: SWEEP_MINIMUMS."
        ),
        "sweep_cost_bps": "Of the deposit. What is dearer waits. Empty: SWEEP_COST_PERCENT.",
        "sweep_after_days": (
            "From 1 to 3,650. Smaller deposits are then swept as well, at"
            " SWEEP_AGED_COST_PERCENT at most. Empty: never."
        ),
        "position": "Order in the customer’s list of assets; the lowest comes first.",
    }
    is_named = True
    operation = staff_roles.ASSETS
    form = AssetForm
    list_display = [
        "coin",
        "chain",
        "token_standard",
        "decimals",
        "offered",
        "to_banks",
    ]
    decimals = lists.figure("atomic_decimals", "Decimals")
    offered = lists.flag("is_active", "Active")
    to_banks = lists.flag("is_fiat_eligible", "Bank payouts")
    list_filter = ["chain", "is_active"]
    switches = (
        "is_active",
        "min_withdrawal_atomic",
        "sweep_minimum_atomic",
        "sweep_cost_bps",
        "sweep_after_days",
        "position",
    )

    @admin.display(description="Asset")
    def coin(self, row: Asset) -> SafeString:
        """With its ID: a network may have two coins of one symbol."""
        name = format_html('<bdi class="name">{}</bdi>', row.coin_symbol)
        return format_html('{} <bdi class="code worth">{}</bdi>', name, row.pk)


def _per_coin(row: Rate) -> str:
    return f"1 {row.asset.coin_symbol} = {number_text(row.rate)} {row.currency}"


class RateAdmin(ReadOnly):
    model = Rate
    names = ("exchange rate", "exchange rates")
    labels: ClassVar = {
        "doubted_at": "Disputed by another source",
        "is_agreed": "Confirmed by a second source",
    }
    is_named = True
    list_display = ["coin", "per_coin", "origin", "told_at", "valid"]
    list_filter = [lists.choices("currency", "currency", ((code, code) for code in CURRENCIES))]
    list_select_related = ["asset__chain"]
    search_fields = ["asset"]
    search_help_text = "Asset ID, such as ETH"
    ordering = ["asset", "currency"]
    coin = lists.asset()
    origin = lists.words("source", "Source")
    told_at = lists.when("as_of", "As of")
    value_texts: ClassVar = {"rate": _per_coin}

    @lists.number
    @admin.display(description="Rate")
    def per_coin(self, row: Rate) -> str:
        return _per_coin(row)

    @admin.display(description="Valid until")
    def valid(self, row: Rate) -> str:
        return NO_END if row.is_always_current else moment(row.valid_until)


class AcceptedAssetAdmin(Queue):
    """Assets of stores; those that were stopped for review wait for a decision."""

    model = AcceptedAsset
    names = ("store asset", "store assets")
    labels: ClassVar = {"suspended_at": "Stopped for review"}
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


def stopped_asset_sections(accepted: AcceptedAsset) -> list[Section]:
    """Of an asset that was stopped for review: what went missing, and what the store has of it."""
    decided = decisions(accepted.store, "asset.review_ended", "asset.kept_stopped")
    return [
        _lost(accepted),
        store_section(accepted.store),
        balances_of(accepted.store, accepted.mode),
        payouts_of(accepted.store, accepted.mode),
        Section("Earlier decisions", decided, without="No asset has been reviewed yet."),
    ]


def _lost(accepted: AcceptedAsset) -> Section:
    """Deposits that the store was credited with and that left the chain. They are few."""
    addresses = PaymentAddress.objects.filter(
        payment__store=accepted.store_id, payment__mode=accepted.mode
    )
    rows = Deposit.objects.filter(
        is_lost=True, asset=accepted.asset_id, address__in=addresses.values("address")
    )
    lost = list(rows.order_by("-detected_at")[:LOST_MAX])
    worth = worth_in(accepted.store, accepted.asset, sum(row.amount_atomic for row in lost))
    facts: list[tuple[str, Any]] = [
        (moment(row.detected_at), coins_text(row.amount_atomic, accepted.asset)) for row in lost
    ]
    if lost:
        facts.append(("Value now", worth))
    page = reverse("admin:chain_deposit_changelist") + "?days=all&is_lost__exact=1"
    return Section("Lost deposits", facts, page, "All lost deposits", without="No lost deposits.")
