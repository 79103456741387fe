"""What the staff pages of every app share. Staff read; what they may change goes through a service or is a plain switch."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

if TYPE_CHECKING:
    StaffAdmin = admin.ModelAdmin[Any]
    StaffInline = admin.TabularInline[Any, Any]
else:
    StaffAdmin, StaffInline = admin.ModelAdmin, admin.TabularInline


class ReadOnly(StaffAdmin):
    """Rows that staff look at and never write."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class Switches(ReadOnly):
    """Rows of which staff change the columns in `switches` and nothing else."""

    switches: tuple[str, ...] = ()

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        hidden = {*self.switches, *(self.exclude or ())}  # Django would show an excluded column that is read-only
        return [field.name for field in self.opts.fields if field.name not in hidden]
