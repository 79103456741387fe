"""Acts that take two members of staff: one asks on a form, another sees exactly that and approves
it with a code.

Withdrawals of earnings have a record of their own."""

import uuid
from typing import ClassVar, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from apps.core import clock
from apps.core.errors import Failure
from apps.core.templatetags.tillgate import badge
from apps.core.text.words import sentence
from apps.core.web.forms import typographic
from apps.staff import lists
from apps.staff.decisions.asking import form_page
from apps.staff.decisions.context import context_of
from apps.staff.decisions.kinds import KINDS
from apps.staff.decisions.store_forms import FORMS
from apps.staff.pages import ReadOnly, may, typed_reason
from apps.staff.plumbing import fresh_code
from apps.staff.templatetags.staff import age
from apps.stores.models import StaffRequest, User, WorkerOrder
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import RequestKind

_DONE = "approved and carried out"
_Pending = StaffRequest.State.PENDING
_KINDS = [
    (kind.name, sentence(kind.title.removeprefix("A ").removeprefix("The ")))
    for kind in KINDS.values()
]
KIND = lists.choices("kind", "type", _KINDS)


class StaffRequestAdmin(ReadOnly):
    model = StaffRequest
    noun = "staff_request"
    labels: ClassVar = {"asked_by": "Requested by", "state": "Status"}
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
        asked = FORMS[kind].kind
        if asked is None or not may(request, asked.operation):
            raise PermissionDenied
        return form_page(
            self,
            request,
            FORMS[kind],
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
            "staff/approval.html",
            self._page(request, kind, row, errors),
            status=422 if errors else 200,
        )

    def _page(
        self, request: HttpRequest, kind: RequestKind, row: StaffRequest, errors: list[str]
    ) -> dict[str, object]:
        is_own = row.asked_by_id == request.user.pk
        decides = may(request, kind.operation)
        is_waiting = row.state == _Pending and clock.real_now() < row.expires_at
        may_approve = is_waiting and decides and not is_own
        needs_reason = kind.moves_money and may_approve
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
            "reason_label": "Reason (required to approve)" if needs_reason else "Reason",
            "errors": errors,
            "is_own": is_own,
            "now": clock.real_now(),
            "is_waiting": is_waiting,
            "may_approve": may_approve,
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
    is_ordered = WorkerOrder.objects.filter(target_id=str(row.pk), ended_at=None).exists()
    return "approved; a worker books it, under Worker orders" if is_ordered else _DONE
