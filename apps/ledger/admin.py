"""The books as staff see them: to be read only. What is wrong is put right by two of them, with a correction (apps.console.admin)."""

from django.contrib import admin

from apps.core.staff import Part, ReadOnly
from apps.ledger.models import Account, Entry, Movement
from apps.ledger.selectors import balance_of


class EntryLines(Part):
    model = Entry
    fields = ["account", "asset", "amount_atomic", "role"]


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
