"""Accounts of the books for staff, to be read only. Movements: apps.staff.movements."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import F, Func, QuerySet
from django.http import HttpRequest

from apps.core import money
from apps.core.models import AtomicField
from apps.ledger.models import Account
from apps.staff import lists
from apps.staff.pages import ReadOnly


@admin.register(Account)
class AccountAdmin(ReadOnly):
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
