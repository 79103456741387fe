"""Withdrawals of earnings: one member of staff asks, another approves with a code."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from apps.core import clock, money
from apps.core.templatetags.tillgate import moment, status_words
from apps.payments.models import Withdrawal
from apps.payments.services import withdrawals
from apps.staff import lists
from apps.staff.decisions.asking import form_page
from apps.staff.decisions.forms import WithdrawalForm
from apps.staff.decisions.queues import Queue, Section
from apps.staff.pages import may
from apps.staff.plumbing import fresh_code
from apps.staff.plumbing.worth import OF_THE_SERVICE, Rated
from apps.stores import staff_roles

EARLIER_MAX = 5


class WithdrawalAdmin(Rated, Queue):
    model = Withdrawal
    names = ("withdrawal of earnings", "withdrawals of earnings")
    rated_in = OF_THE_SERVICE
    list_display = ["requested", "called", "amount", "to", "requested_by", "decision"]
    list_filter = ["status", lists.MODE]
    list_select_related = ["asset", "requested_by", "decided_by"]
    search_fields = ["id", "reference"]
    search_help_text = "Withdrawal ID or reference"
    requested = lists.when("requested_at", "Requested")
    called = lists.store("reference", "Reference")
    to = lists.short("to_address", "To")
    ordering = ["-requested_at"]
    exclude = ["id", "is_requested"]
    noun = "withdrawal"
    nothing = (
        "No withdrawals of earnings yet. Requests by finance staff and their outcomes appear here."
    )
    waiting = Withdrawal.Status.REQUESTED
    approving = rejecting = staff_roles.WITHDRAWAL
    takes_code = True
    rejection_is_told_to = "Emailed to both people and saved in the audit log."

    def get_urls(self) -> list[URLPattern]:
        ask = path("ask/", self.admin_site.admin_view(self.ask), name="payments_withdrawal_ask")
        return [ask, *super().get_urls()]

    def take_code(self, request: HttpRequest) -> None:
        fresh_code.take(request)

    def decision_facts(self, row: Withdrawal) -> list[tuple[str, Any]]:
        return [
            ("amount", lists.worth(row.amount_atomic, row.asset, row)),
            ("to", row.to_address),
            ("reference", row.reference),
            ("reason", row.reason),
            ("requested by", row.requested_by),
            ("requested", moment(row.requested_at)),
        ]

    def sections(self, row: Withdrawal) -> list[Section]:
        """The last withdrawals of the same asset."""
        earlier = (
            Withdrawal.objects.filter(asset=row.asset_id)
            .exclude(pk=row.pk)
            .select_related("asset")
            .order_by("-requested_at")
        )
        facts = [
            (
                past.reference,
                (
                    f"{money.amount_text(past.amount_atomic, past.asset.atomic_decimals)}"
                    f" {past.asset.coin_symbol}, {status_words('withdrawal', past.status).lower()}"
                ),
            )
            for past in earlier[:EARLIER_MAX]
        ]
        return [
            Section(
                "Earlier withdrawals",
                facts,
                without="This is the first withdrawal of this asset.",
            )
        ]

    def more_facts(self, row: Withdrawal) -> list[tuple[str, Any]]:
        amount = money.decimal_from_atomic(
            withdrawals.withdrawable(row.asset), row.asset.atomic_decimals
        )
        return [("available earnings", f"{amount} {row.asset.coin_symbol}")]

    def approve(self, row: Withdrawal, reason: str, staff: Any) -> str:
        withdrawals.approve_withdrawal(row.pk, staff, clock.real_now())
        return "approved and in progress"

    def reject(self, row: Withdrawal, reason: str, staff: Any) -> str:
        withdrawals.reject_withdrawal(row.pk, staff, clock.real_now())
        return "canceled" if row.requested_by_id == staff.pk else "rejected"

    def ask(self, request: HttpRequest) -> HttpResponse:
        """Nothing leaves before a second member of staff approves it."""
        if not may(request, staff_roles.WITHDRAWAL):
            raise PermissionDenied
        return form_page(
            self,
            request,
            WithdrawalForm,
            done=lambda row: f"{row}: waiting for approval by another member of finance staff",
            next_page="admin:payments_withdrawal_changelist",
        )
