"""What takes two members of staff, on the staff site: one asks on a form, another sees exactly that
and approves it with a code.

Withdrawals of earnings have a record of their own (decision 137).
"""

import uuid
from collections.abc import Callable
from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from apps.core import clock, money
from apps.core.errors import Failure
from apps.core.templatetags.tillgate import badge, moment, status_words
from apps.core.web.forms import typographic
from apps.core.words import sentence
from apps.payments.models import Withdrawal
from apps.payments.services import withdrawals
from apps.staff import lists
from apps.staff.approval_context import context_of
from apps.staff.approval_forms import FORMS, AskForm, WithdrawalForm
from apps.staff.approval_kinds import KINDS
from apps.staff.pages import Queue, ReadOnly, Section, may, typed_reason
from apps.staff.plumbing import fresh_code
from apps.staff.plumbing.worth import OF_THE_SERVICE, Rated
from apps.staff.templatetags.staff import age
from apps.stores import four_eyes, staff_roles
from apps.stores.four_eyes import RequestKind
from apps.stores.models import StaffRequest, User

EARLIER_MAX = 5
_Pending = StaffRequest.State.PENDING
_KINDS = [
    (kind.name, sentence(kind.title.removeprefix("A ").removeprefix("The ")))
    for kind in KINDS.values()
]
KIND = lists.choices("kind", "type", _KINDS)


@admin.register(StaffRequest)
class StaffRequestAdmin(ReadOnly):
    is_named = True
    list_display = ["what", "asked_by", "age", "expires", "decided_by", "decision"]
    list_display_links = None
    list_filter = ["state", KIND]
    list_select_related = ["asked_by", "decided_by"]
    search_fields = ["id", "asked_by__email_key"]
    search_help_text = "Request ID, or the email address of the requester"
    what = lists.text("name", "Request")
    expires = lists.when("expires_at", "Expires")
    ordering = ["-asked_at"]
    exclude = ["content", "sealed"]  # what is asked for is on the page of the decision
    value_texts: ClassVar = {"kind": lambda row: dict(_KINDS).get(row.kind, row.kind)}

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                "ask/<str:kind>/",
                self.admin_site.admin_view(self.ask),
                name="stores_staffrequest_ask",
            ),
            path(
                "<uuid:row_id>/decide/",
                self.admin_site.admin_view(self.decide),
                name="stores_staffrequest_decide",
            ),
        ]
        return [*own, *super().get_urls()]

    @admin.display(description="Age", ordering="asked_at")
    def age(self, row: StaffRequest) -> str:
        return age(row.asked_at, clock.real_now())

    @admin.display(description="Status")
    def decision(self, row: StaffRequest) -> str:
        page = reverse("admin:stores_staffrequest_decide", args=[row.pk])
        if row.state == _Pending:
            return format_html('<a class="decide" href="{}">Review</a>', page)
        return format_html('<a href="{}">{}</a>', page, badge("staff_request", row.outcome))

    def ask(self, request: HttpRequest, kind: str) -> HttpResponse:
        """The form of a kind. What one may do alone is done."""
        if kind not in FORMS:
            raise Http404
        if not may(request, KINDS[kind].operation):
            raise PermissionDenied
        fields = {name: value for name, value in request.GET.items() if isinstance(value, str)}
        form = FORMS[kind](
            request.POST if request.method == "POST" else None, preset=fields, initial=fields
        )
        return _ask_page(
            self,
            request,
            form,
            done=lambda row: (
                f"{row}: sent for a second approval"
                if row
                else "Done. No second approval was needed"
            ),
            next_page="admin:stores_staffrequest_changelist",
        )

    def decide(self, request: HttpRequest, row_id: uuid.UUID) -> HttpResponse:
        """Exactly what was requested beside what is known of it; an approval takes a code, and a
        reason where money moves."""
        row = (
            StaffRequest.objects.select_related("asked_by", "decided_by").filter(pk=row_id).first()
        )
        if row is None:
            raise Http404
        kind = KINDS[row.kind]
        errors = list[str]()
        if request.method == "POST":
            try:
                outcome = _decide(request, kind, row)
            except Failure as refusal:
                errors = [typographic(refusal.text)]
            else:
                messages.success(request, f"{row}: {outcome}")
                return HttpResponseRedirect(reverse("admin:stores_staffrequest_changelist"))
        return render(
            request,
            "admin/staff_request.html",
            self._page(request, kind, row, errors),
            status=422 if errors else 200,
        )

    def _page(
        self, request: HttpRequest, kind: RequestKind, row: StaffRequest, errors: list[str]
    ) -> dict[str, object]:
        is_own = row.asked_by_id == request.user.pk
        decides = may(request, kind.operation)
        is_waiting = row.state == _Pending and clock.real_now() < row.expires_at
        content = four_eyes.content_of(row)
        context = context_of(row, content.facts)
        return {
            **self.admin_site.each_context(request),
            "title": row.name,
            "opts": self.opts,
            "list_name": self.list_name,
            "row": row,
            "lines": content.lines,
            "worth": context.worth,
            "sections": context.sections,
            "reason": typed_reason(request),
            "needs_reason": kind.moves_money,
            "errors": errors,
            "is_own": is_own,
            "now": clock.real_now(),
            "is_waiting": is_waiting,
            "may_approve": is_waiting and decides and not is_own,
            "may_reject": is_waiting and (decides or is_own),
        }


def _decide(request: HttpRequest, kind: RequestKind, row: StaffRequest) -> str:
    """Raises a Failure."""
    staff = cast(User, request.user)
    at = clock.real_now()
    if not may(request, kind.operation) and row.asked_by_id != staff.pk:
        raise PermissionDenied
    reason = typed_reason(request)
    if request.POST.get("decision") == "reject":
        four_eyes.reject(kind, row.pk, staff, at, reason=reason)
        return "withdrawn" if row.asked_by_id == staff.pk else "rejected"
    if request.POST.get("decision") != "approve":
        raise four_eyes.StaffRequestRefused("Choose a decision")
    fresh_code.take(request)
    four_eyes.approve(kind, row.pk, staff, at, digest=request.POST.get("digest", ""), reason=reason)
    return "approved and carried out"


@admin.register(Withdrawal)
class WithdrawalAdmin(Rated, Queue):
    rated_in = OF_THE_SERVICE
    list_display = ["requested", "called", "amount", "to", "requested_by", "decision"]
    list_filter = ["status", lists.MODE]
    list_select_related = ["asset", "requested_by", "decided_by"]
    search_fields = ["id", "reference"]
    search_help_text = "Withdrawal ID or reference"
    requested = lists.when("requested_at", "Requested")
    called = lists.store("reference", "Reference")
    amount = lists.coins()
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
        form = WithdrawalForm(request.POST if request.method == "POST" else None, preset={})
        return _ask_page(
            self,
            request,
            form,
            done=lambda row: f"{row}: waiting for approval by another member of finance staff",
            next_page="admin:payments_withdrawal_changelist",
        )


def _ask_page(
    page: ReadOnly,
    request: HttpRequest,
    form: AskForm,
    *,
    done: Callable[[StaffRequest | Withdrawal | None], str],
    next_page: str,
) -> HttpResponse:
    """The form, or the list of what was requested once it is."""
    errors: list[str] = []
    if request.method == "POST" and form.is_valid():
        try:
            row = form.ask(cast(User, request.user), clock.real_now())
        except Failure as refusal:
            errors = [typographic(refusal.text)]
        else:
            messages.success(request, done(row))
            return HttpResponseRedirect(reverse(next_page))
    context = {
        **page.admin_site.each_context(request),
        "title": form.title,
        "opts": page.opts,
        "list_name": page.list_name,
        "form": form,
        "obstacle": form.obstacle,
        "errors": errors,
    }
    return render(request, "admin/ask.html", context, status=422 if errors or form.errors else 200)
