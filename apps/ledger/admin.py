"""The books as staff see them: to be read only. What is wrong is put right by `movements.correction`, never here."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from apps.ledger.models import Account, Entry, Movement
from apps.ledger.selectors import balance_of

if TYPE_CHECKING:

    class EntryBase(admin.TabularInline[Entry, Movement]): ...

    class AccountBase(admin.ModelAdmin[Account]): ...

    class MovementBase(admin.ModelAdmin[Movement]): ...

else:
    AccountBase = MovementBase = admin.ModelAdmin
    EntryBase = admin.TabularInline


class ReadOnly:
    """No row is added, changed or deleted; PostgreSQL would refuse it too."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class EntryLines(ReadOnly, EntryBase):
    model = Entry
    fields = ["account", "asset", "amount_atomic", "role"]


@admin.register(Account)
class AccountAdmin(ReadOnly, AccountBase):
    list_display = ["id", "kind", "asset", "mode", "store", "balance_atomic"]
    list_filter = ["mode", "kind", "asset"]
    list_select_related = ["asset", "store"]
    list_per_page = 50
    search_fields = ["=store__id"]
    fields = ["kind", "asset", "mode", "store", "is_guarded", "balance_atomic"]

    @admin.display(description="balance (atomic)")
    def balance_atomic(self, account: Account) -> int:
        return balance_of(account.pk)


@admin.register(Movement)
class MovementAdmin(ReadOnly, MovementBase):
    list_display = ["id", "at", "kind", "key", "mode", "reason", "staff_user"]
    list_filter = ["mode", "kind"]
    list_select_related = ["staff_user"]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["=key", "=reference"]
    inlines = [EntryLines]
