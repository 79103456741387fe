"""Accounts and movements of the ledger for staff: what was booked, for whom and how much, with a
link to what it served. Corrections take two (apps.staff.decisions.approvals)."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import F, Func, Model, Prefetch, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.agents.models import Settlement, SignedPayment
from apps.assets.models import Asset
from apps.chain.models import OutgoingTransaction
from apps.core import money
from apps.core.models import AtomicField, Mode
from apps.core.templatetags.tillgate import moment
from apps.ledger.models import Account, Entry, Movement
from apps.payments.models import Payment, Refund, Withdrawal
from apps.payouts.models import Payout
from apps.staff import lists
from apps.staff.pages import Part, ReadOnly
from apps.staff.plumbing import times
from apps.staff.plumbing.codes import code
from apps.staff.plumbing.record_links import record_links
from apps.staff.plumbing.values import in_words
from apps.swaps.models import Swap

_SERVICE = "The service"
_NETWORK_FEE = "network_fee"
# What a movement may serve, the likeliest first.
_SERVED: tuple[type[Model], ...] = (
    *(Payment, Payout, Swap, Refund, Settlement, SignedPayment),
    *(OutgoingTransaction, Withdrawal),
)


class AccountAdmin(ReadOnly):
    model = Account
    labels: ClassVar = {"is_guarded": "May go below zero"}
    is_named = True
    list_display = ["account", "shop", "coin", "balance"]
    list_filter = ["mode", "kind", ("asset", lists.AssetFilter)]
    list_select_related = ["asset__chain", "store"]
    search_fields = ["store"]
    search_help_text = "Store ID, or the beginning of a store’s name"
    fields = ["kind", "asset", "mode", "store", "is_guarded", "balance"]
    account = lists.words("kind", "Account")
    value_texts: ClassVar = {"is_guarded": lambda row: lists.yes_or_no(not row.is_guarded)}
    shop = lists.store(description="Owner", nobody="The service")
    coin = lists.asset()
    # Of one owner after the other, the service's own first: the unique rule's index has them so.
    ordering = ["-store_id", "mode", "asset_id", "kind"]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Account]":
        of_it = Func(F("pk"), function="ledger_balance", output_field=AtomicField())
        rows: QuerySet[Account] = super().get_queryset(request)
        return rows.annotate(balance_now=of_it)

    @lists.number
    @admin.display(description="Balance")
    def balance(self, account: Any) -> str:
        return (
            f"{money.amount_text(account.balance_now, account.asset.atomic_decimals)}"
            f" {account.asset.coin_symbol}"
        )


class EntryLines(Part):
    model = Entry
    verbose_name_plural = "entries"
    fields = ["account", "amount_atomic", "role"]  # the account has its asset in its name
    list_select_related = ["account__asset__chain", "account__store", "asset__chain"]


def _served(row: Movement) -> SafeString:
    """The record of which the movement has the ID."""
    for model in _SERVED:
        if model._base_manager.filter(pk=row.reference).exists():
            return record_links(model, [str(row.reference)])[0]
    return code(row.reference)


class MovementAdmin(ReadOnly):
    """In the order of their numbers: a test movement is booked at the time of a test clock."""

    model = Movement
    labels: ClassVar = {
        "at": "Booked",
        "id": "Number",
        "staff_user": "Member of staff",
    }
    list_display = ["number", "booked", "movement", "shop", "amount", "shown_key"]
    list_display_links = ["number"]
    list_filter = ["mode"]
    list_select_related = ["staff_user"]
    search_fields = ["key", "reference", "id"]
    search_help_text = "Number, key, or ID of the payment, payout or refund"
    ordering = ["-id"]
    number = lists.text("id", "Number")
    shown_key = lists.clipped("key", "Key")
    inlines = [EntryLines]
    value_texts: ClassVar = {"at": lambda row: _booked(row), "reference": _served}

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Movement]":
        entries = Entry.objects.select_related("asset", "account__store")
        rows: QuerySet[Movement] = super().get_queryset(request)
        return rows.prefetch_related(Prefetch("entries", entries))

    @admin.display(description="Booked")
    def booked(self, row: Movement) -> str:
        return _booked(row)

    def since_words(self, row: Movement, since: datetime) -> list[str]:
        return [_booked(row)]

    def title_of(self, row: Movement) -> str:
        return str(in_words("kind", row.kind)).lower()

    def heading_of(self, row: Movement) -> str:
        return f"Movement {row.pk}: {in_words('kind', row.kind)}"

    @admin.display(description="Movement")
    def movement(self, row: Movement) -> SafeString:
        """With who booked a correction, and why."""
        why = ": ".join(text for text in (str(row.staff_user or ""), row.reason) if text)
        kind = in_words("kind", row.kind)
        return format_html('{} <span class="worth below">{}</span>', kind, why) if why else kind

    @lists.tells_mode
    @admin.display(description="Store")
    def shop(self, row: Movement) -> SafeString:
        stores = {str(entry.account.store) for entry in _entries(row) if entry.account.store}
        return lists.with_mode(", ".join(sorted(stores)) or _SERVICE, row.mode)

    @lists.number
    @admin.display(description="Amount")
    def amount(self, row: Movement) -> SafeString:
        amounts = ((text,) for text in _amounts(_entries(row)))
        return format_html_join("", '<bdi class="amount below">{}</bdi>', amounts)


def _entries(row: Movement) -> list[Entry]:
    return list(row.entries.all())


def _booked(row: Movement) -> str:
    """A number has no time: whether a test clock set it is known of the stores whose money
    moved."""
    stores = [entry.account.store for entry in _entries(row)]
    is_by_clock = any(store and store.test_offset_seconds for store in stores)
    return times.by_clock(row.at) if row.mode == Mode.TEST and is_by_clock else moment(row.at)


def _amounts(entries: Iterable[Entry]) -> list[str]:
    """Credited amount of each coin: without gas, unless nothing else moved."""
    credits = [entry for entry in entries if entry.amount_atomic > 0]
    moved = [entry for entry in credits if entry.role != _NETWORK_FEE] or credits
    totals = Counter[Asset]()
    for entry in moved:
        totals[entry.asset] += entry.amount_atomic
    return [
        f"{money.amount_text(total, asset.atomic_decimals)} {asset.coin_symbol}"
        for asset, total in totals.items()
    ]
