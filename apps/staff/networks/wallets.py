"""Hot wallets for staff, why one is stopped, and coins that don't move or that nothing explains.

Operators settle them at a terminal with `manage.py sending`."""

from typing import ClassVar, cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import pluralize

from apps.assets.models import Asset, TokenStandard
from apps.chain.models import (
    HotWallet,
    Obstacle,
    UnexplainedBalance,
)
from apps.chain.networks.families import has_coins
from apps.chain.sending import coin_purse
from apps.chain.watching import unexplained
from apps.core.clock import real_now
from apps.core.money import amount_text
from apps.core.templatetags.tillgate import moment
from apps.staff import lists
from apps.staff.pages import ReadOnly, button, typed_reason
from apps.staff.plumbing import commands
from apps.staff.plumbing.worth import OF_THE_SERVICE, Rated
from apps.stores import staff_roles
from apps.stores.staff_roles import StaffMember


class HotWalletAdmin(ReadOnly):
    model = HotWallet
    names = ("wallet", "wallets")
    labels: ClassVar = {
        "halted_at": "Stopped",
        "halted_reason": "Reason it was stopped",
        "number": "Lane",
        "short_since": "Out of funds since",
        "without_gas_since": "Out of coins for gas since",
    }
    list_display = ["network", "lane", "shown_address", "stands", "halted", "why"]
    list_select_related = ["chain"]
    network = lists.chain()
    says_nothing: ClassVar = {
        "number": lambda row: not row.number,  # of a chain's only wallet
        "next_nonce": lambda row: has_coins(row.chain),
    }
    shown_address = lists.short("address", "Address")
    halted = lists.when("halted_at", "Stopped")
    ordering = ["chain", "number"]

    @lists.number
    @admin.display(description="Lane", empty_value=lists.NOTHING)
    def lane(self, row: HotWallet) -> int | None:
        """Of a chain whose transactions several wallets sign."""
        return row.number or None

    @admin.display(description="Next nonce, or coins")
    def stands(self, row: HotWallet) -> str:
        """Of a network with coins, what may be spent now and in how many."""
        if not has_coins(row.chain):
            return str(row.next_nonce)
        coins = coin_purse.spendable(row.chain)
        count = coins.count()
        native = Asset.objects.get(chain=row.chain, token_standard=TokenStandard.NATIVE)
        amount = amount_text(coin_purse.free(row.chain), native.atomic_decimals)
        return f"{amount} {native.coin_symbol} in {count} coin{pluralize(count)}"

    @admin.display(description="Reason")
    def why(self, row: HotWallet) -> str | None:
        if row.halted_at is None:
            return row.halted_reason or None
        return commands.shown(row.halted_reason, commands.of_wallet(row))

    def title_of(self, row: HotWallet) -> str:
        lane = f", lane {row.number}" if row.number else ""
        return f"on {row.chain.name}{lane}"


class ObstacleAdmin(ReadOnly):
    model = Obstacle
    names = ("obstacle", "obstacles")
    listed_as = "Coins that can’t move"
    labels: ClassVar = {
        "amount_atomic": "Coins that wait",
        "cost_atomic": "Cost of a sweep",
        "holder": "Address",
        "kind": "Reason",
        "next_look_at": "Next check",
    }
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


class UnexplainedBalanceAdmin(Rated):
    model = UnexplainedBalance
    rated_in = OF_THE_SERVICE
    list_display = ["found_time", "network", "address_shown", "amount", "block_number", "settled"]
    list_filter = [lists.present("settled_at", "status", "Explained", "Unexplained"), "chain"]
    list_select_related = ["chain", "asset"]
    search_fields = ["address__address"]
    search_help_text = "Deposit address"
    found_time = lists.when("found_at", "Found")
    network = lists.chain()
    address_shown = lists.short("address_id", "Address", chain="chain")
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
