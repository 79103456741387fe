"""The books as staff see them: to be read only. What is wrong is put right by two of them, with a
correction (apps.console.admin)."""

from typing import Any

from django.contrib import admin
from django.db.models import F, Func, QuerySet
from django.http import HttpRequest

from apps.core import money
from apps.core.models import AtomicField
from apps.core.staff import lists
from apps.core.staff.labels import sentence
from apps.core.staff.pages import Part, ReadOnly
from apps.core.staff.values import in_words
from apps.ledger.models import Account, Entry, Movement


class EntryLines(Part):
    model = Entry
    verbose_name_plural = "entries"
    fields = ["account", "asset", "amount_atomic", "role"]


@admin.register(Account)
class AccountAdmin(ReadOnly):
    is_named = True
    list_display = ["account", "shop", "coin", "which_mode", "balance"]
    list_filter = ["mode", "kind", ("asset", lists.AssetFilter)]
    list_select_related = ["asset__chain", "store"]
    search_fields = ["store"]
    search_help_text = "Store ID, or the beginning of a store’s name"
    fields = ["kind", "asset", "mode", "store", "is_guarded", "balance"]
    account = lists.words("kind", "Account")
    shop = lists.store(description="Owner")
    coin = lists.asset()
    which_mode = lists.mode()

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


@admin.register(Movement)
class MovementAdmin(ReadOnly):
    is_named = True
    list_display = ["booked", "movement", "mode", "shown_key", "why", "staff_user"]
    list_filter = ["mode"]
    list_select_related = ["staff_user"]
    search_fields = ["key", "reference", "id"]
    search_help_text = "Key, ID of what it serves, or number of the movement"
    ordering = ["-id"]
    booked = lists.when("at", "Booked")
    movement = lists.words("kind", "Movement")
    shown_key = lists.clipped("key", "Key")
    why = lists.text("reason", "Reason")
    inlines = [EntryLines]

    def title_of(self, row: Movement) -> str:
        return str(in_words("kind", row.kind)).lower()

    def heading_of(self, row: Movement) -> str:
        return sentence(self.title_of(row))
