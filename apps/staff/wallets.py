"""The chains as staff see them: which assets are in use, hot wallets and why one is halted, what
leaves.

What waits for a person is settled by `manage.py sending`, never here.
"""

from typing import ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.assets.models import Asset
from apps.chain.activation import NotReady, refuse_unready
from apps.chain.models import (
    HotWallet,
    Obstacle,
    OutgoingTransaction,
    UnexplainedBalance,
    UnknownTransaction,
)
from apps.chain.watching import unexplained
from apps.core.clock import real_now
from apps.core.money import amount_text
from apps.core.templatetags.tillgate import badge, moment, shorten
from apps.staff import lists
from apps.staff.labels import field_label
from apps.staff.pages import ReadOnly, Switches, SwitchForm, button, typed_reason
from apps.staff.plumbing import commands
from apps.staff.plumbing.paging import BY_KEY
from apps.staff.plumbing.worth import OF_STORE_OR_SERVICE, OF_THE_SERVICE, Rated
from apps.stores import staff_roles
from apps.stores.staff_roles import StaffMember


class AssetForm(SwitchForm):
    def clean(self) -> None:
        super().clean()
        if self.cleaned_data.get("is_active") and "is_active" in self.changed_data:
            try:
                refuse_unready(self.instance)
            except NotReady as refusal:
                raise forms.ValidationError(refusal.text) from None


@admin.register(Asset)
class AssetAdmin(Switches):
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
    decimals = lists.figure("atomic_decimals", field_label("atomic_decimals"))
    offered = lists.flag("is_active", "Active")
    to_banks = lists.flag("is_fiat_eligible", field_label("is_fiat_eligible"))
    list_filter = ["chain", "is_active"]
    switches = ("is_active", "min_withdrawal_atomic", "position")

    @admin.display(description="Asset")
    def coin(self, row: Asset) -> SafeString:
        """With its ID: a network may have two coins of one symbol."""
        name = format_html('<bdi class="name">{}</bdi>', row.coin_symbol)
        return format_html('{} <bdi class="code worth">{}</bdi>', name, row.pk)


@admin.register(HotWallet)
class HotWalletAdmin(ReadOnly):
    list_display = ["network", "lane", "shown_address", "next_nonce", "halted", "why"]
    list_select_related = ["chain"]
    network = lists.chain()
    says_nothing: ClassVar = {"number": lambda row: not row.number}  # of a chain's only wallet
    shown_address = lists.short("address", "Address")
    halted = lists.when("halted_at", "Stopped")
    ordering = ["chain", "number"]

    @lists.number
    @admin.display(description="Lane", empty_value=lists.NOTHING)
    def lane(self, row: HotWallet) -> int | None:
        """Of a chain whose transactions several wallets sign."""
        return row.number or None

    @admin.display(description="Reason")
    def why(self, row: HotWallet) -> str | None:
        if row.halted_at is None:
            return row.halted_reason or None
        return commands.shown(row.halted_reason, commands.of_wallet(row))

    def title_of(self, row: HotWallet) -> str:
        lane = f", lane {row.number}" if row.number else ""
        return f"on {row.chain.name}{lane}"


@admin.register(OutgoingTransaction)
class OutgoingTransactionAdmin(Rated):
    rated_in = OF_STORE_OR_SERVICE
    list_display = ["requested", "shop", "purpose", "amount", "to", "state"]
    list_filter = [
        lists.since("requested_at"),
        "status",
        "purpose",
        lists.MODE,
        "chain",
    ]
    list_select_related = ["asset", "chain", "store"]
    search_fields = ["id", "candidates__tx_hash", "reference"]
    search_help_text = "Transaction ID, hash, or the reference of a payout, refund, swap or sweep"
    says_nothing: ClassVar = {
        "received_atomic": lambda row: not row.received_atomic,
        "handled_received_atomic": lambda row: not row.handled_received_atomic,
    }
    requested = lists.made("requested_at", "Requested")
    shop = lists.store(nobody="The service")
    amount = lists.coins()
    to = lists.short("to_address", "To", chain="chain")
    ordering = [BY_KEY]

    @admin.display(description="Status")
    def state(self, row: OutgoingTransaction) -> str:
        status = badge("outgoing", row.status)
        if row.reason:
            status = format_html('{} <span class="worth below">{}</span>', status, row.reason)
        return commands.shown(status, commands.of_outgoing(row))

    def title_of(self, row: OutgoingTransaction) -> str:
        return f"of {lists.coins_text(row)}, {row.get_purpose_display().lower()}"


@admin.register(Obstacle)
class ObstacleAdmin(ReadOnly):
    list_display = ["found_time", "coin", "kind", "shown_holder", "waiting", "over"]
    list_filter = [lists.present("ended_at", "status", "Over", "Still there"), "kind"]
    list_select_related = ["asset__chain"]
    says_nothing: ClassVar = {
        "holder": lambda row: not row.holder,
        "addresses": lambda row: not row.addresses,
        "amount_atomic": lambda row: not row.amount_atomic,
        "cost_atomic": lambda row: not row.cost_atomic,
    }
    found_time = lists.when("found_at", "Found")
    coin = lists.asset()
    shown_holder = lists.short("holder", "Address")
    over = lists.when("ended_at", "Over")
    ordering = ["-found_at"]

    @admin.display(description="Waiting", empty_value=lists.NOTHING)
    def waiting(self, row: Obstacle) -> str | None:
        """The coins on deposit addresses that wait for it, and what a sweep of one costs."""
        if not row.amount_atomic:
            return None
        coins = lists.coins_text(row)
        if not row.cost_atomic:
            return coins
        cost = amount_text(row.cost_atomic, row.asset.atomic_decimals)
        return f"{coins} on {row.addresses} addresses; a sweep costs {cost}"

    def title_of(self, row: Obstacle) -> str:
        return f"of {row.asset.full_name}"


@admin.register(UnknownTransaction)
class UnknownTransactionAdmin(ReadOnly):
    list_display = ["found_time", "network", "nonce", "transaction", "to", "settled"]
    list_filter = [lists.present("settled_at", "status", "Explained", "Unexplained"), "chain"]
    list_select_related = ["chain"]
    search_fields = ["tx_hash"]
    search_help_text = "Transaction hash"
    found_time = lists.when("found_at", "Found")
    network = lists.chain()
    transaction = lists.short("tx_hash", "Transaction")
    to = lists.short("to_address", "To")
    ordering = ["-found_at"]

    @admin.display(description="Explained")
    def settled(self, row: UnknownTransaction) -> str:
        if row.settled_at is not None:
            return moment(row.settled_at)
        return commands.shown("No", commands.of_unknown(row))

    def title_of(self, row: UnknownTransaction) -> str:
        return shorten(row.tx_hash)


@admin.register(UnexplainedBalance)
class UnexplainedBalanceAdmin(Rated):
    rated_in = OF_THE_SERVICE
    list_display = ["found_time", "network", "address_shown", "amount", "block_number", "settled"]
    list_filter = [lists.present("settled_at", "status", "Explained", "Unexplained"), "chain"]
    list_select_related = ["chain", "asset"]
    search_fields = ["address__address"]
    search_help_text = "Deposit address"
    found_time = lists.when("found_at", "Found")
    network = lists.chain()
    address_shown = lists.short("address_id", "Address", chain="chain")
    amount = lists.coins()
    ordering = ["-found_at"]
    actions = ["accept"]

    @admin.display(description="Explained")
    def settled(self, row: UnexplainedBalance) -> str:
        if row.settled_at is not None:
            return row.accepted_reason or moment(row.settled_at)
        return commands.shown("No", commands.of_unexplained(row))

    def title_of(self, row: UnexplainedBalance) -> str:
        return f"of {lists.coins_text(row)}"

    @button(staff_roles.COINS_ACCEPT, "Accept without booking")
    def accept(self, request: HttpRequest, rows: "QuerySet[UnexplainedBalance]") -> None:
        count = 0
        for row in rows.filter(settled_at=None):
            unexplained.accept_for_staff(
                row, typed_reason(request), cast(StaffMember, request.user), real_now()
            )
            count += 1
        messages.success(request, f"{count} accepted" if count else "None of these is open")
