"""The books as staff see them: to be read only. What is wrong is put right by `movements.correction`, never here."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from apps.core.staff import ReadOnly, StaffInline
from apps.ledger.models import Account, Entry, Movement
from apps.ledger.selectors import balance_of


class EntryLines(StaffInline):
    model = Entry
    fields = ["account", "asset", "amount_atomic", "role"]
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Account)
class AccountAdmin(ReadOnly):
    list_display = ["id", "kind", "asset", "mode", "store", "balance_atomic"]
    list_filter = ["mode", "kind", "asset"]
    list_select_related = ["asset", "store"]
    search_fields = ["=store__id"]
    fields = ["kind", "asset", "mode", "store", "is_guarded", "balance_atomic"]

    @admin.display(description="balance (atomic)")
    def balance_atomic(self, account: Account) -> int:
        return balance_of(account.pk)


@admin.register(Movement)
class MovementAdmin(ReadOnly):
    list_display = ["id", "at", "kind", "key", "mode", "reason", "staff_user"]
    list_filter = ["mode", "kind"]
    list_select_related = ["staff_user"]
    search_fields = ["=key", "=reference"]
    inlines = [EntryLines]
