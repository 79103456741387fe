"""What the staff pages of every app share. Staff read; what they may change goes through a service or is a plain switch."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from apps.core import money
from apps.core.errors import Failure

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


class Part(StaffInline):
    """Rows of a record that are looked at with it."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class Switches(ReadOnly):
    """Rows of which staff change the columns in `switches` and nothing else."""

    switches: tuple[str, ...] = ()

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        hidden = {*self.switches, *(self.exclude or ())}  # Django would show an excluded column that is read-only
        return [field.name for field in self.opts.fields if field.name not in hidden]


def shown(row: Any, name: str) -> Any:
    """A column as a person decides by it: atomic units also as coins, cents as money, choices in words."""
    value = getattr(row, name)
    asset = getattr(row, "asset", None)
    if name.endswith("_atomic") and value is not None and asset is not None and name != "network_fee_atomic":
        return f"{money.decimal_from_atomic(int(value), asset.atomic_decimals)} {asset.coin_symbol} ({value} atomic units)"
    if name.endswith("_cents") and value is not None:
        return money.text_from_cents(int(value))
    words = getattr(row, f"get_{name}_display", None)
    return words() if words is not None else value


class Queue(ReadOnly):
    """Rows that wait for a person. A page of its own takes the decision with its reason; a service carries it out."""

    waiting = "pending"

    def approve(self, row: Any, reason: str) -> object:
        raise TypeError("a queue defines approve")

    def reject(self, row: Any, reason: str) -> object:
        raise TypeError("a queue defines reject")

    def get_urls(self) -> list[URLPattern]:
        decide = path("<uuid:row_id>/decide/", self.admin_site.admin_view(self.decide), name=self._page("decide"))
        return [decide, *super().get_urls()]

    def _page(self, name: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{name}"

    @admin.display(description="Decision")
    def decision(self, row: Any) -> str:
        if row.status != self.waiting:
            return str(row.status)
        return format_html('<a href="{}">Decide</a>', reverse(f"admin:{self._page('decide')}", args=[row.pk]))

    def decide(self, request: HttpRequest, row_id: Any) -> HttpResponse:
        """Read everything, say yes or no; a no needs a reason."""
        row = self.get_object(request, str(row_id))
        if row is None:
            raise Http404
        errors: list[str] = []
        reason = ""
        if request.method == "POST":
            decision, reason = request.POST.get("decision"), request.POST.get("reason", "").replace("\x00", "").strip()[:500]
            errors = self._decide(request, row, decision, reason)
            if not errors:
                return HttpResponseRedirect(reverse(f"admin:{self._page('changelist')}"))
        facts = [(field.verbose_name, shown(row, field.name)) for field in self.opts.fields if field.name not in (self.exclude or ())]
        facts = [(name, value) for name, value in facts if value not in (None, "")]
        title = f"Decide: {self.opts.verbose_name} of {row.store}"
        context = {**self.admin_site.each_context(request), "title": title, "row": row, "facts": facts, "errors": errors, "reason": reason}
        return render(request, "admin/decide.html", context | {"is_waiting": row.status == self.waiting}, status=422 if errors else 200)

    def _decide(self, request: HttpRequest, row: Any, decision: str | None, reason: str) -> list[str]:
        if decision not in ("approve", "reject"):
            return ["Choose a decision"]
        if decision == "reject" and not reason:
            return ["A rejection needs a reason"]
        try:
            self.approve(row, reason) if decision == "approve" else self.reject(row, reason)
        except Failure as refusal:
            return [refusal.text]
        self.log_change(request, row, f"{decision}: {reason}" if reason else decision)
        messages.success(request, f"{row}: {'approved' if decision == 'approve' else 'rejected'}")
        return []
