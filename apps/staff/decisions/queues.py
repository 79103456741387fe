"""Records that wait for a decision of staff, and the page on which it is taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from apps.core.errors import Failure
from apps.core.templatetags.tillgate import badge, status_words
from apps.core.text.words import sentence
from apps.core.web.forms import typographic
from apps.staff.labels import in_one_order
from apps.staff.pages import ReadOnly, may, typed_reason
from apps.stores.staff_roles import StaffOperation


@dataclass(frozen=True)
class Section:
    """A part of what is known, beside a decision: names and values, and where there is more."""

    title: str
    facts: Sequence[tuple[str, Any]]
    url: str = ""
    link: str = ""
    without: str = ""  # what is said when there are no facts


class Queue(ReadOnly):
    """Rows that wait for a person. A page of its own takes the decision with its reason; a service
    carries it out."""

    nothing = "Nothing needs a decision. Items submitted for review appear here."
    waiting = "pending"
    approving: StaffOperation
    rejecting: StaffOperation
    takes_code = False  # whether an approval takes a code of the authenticator app
    takes_code_to_reject = False  # whether a rejection does, too
    rejection_is_told_to = "The store sees this if you reject."
    heading = "What is requested"  # of what the decision is about
    has_approval = True  # or there is only something to stop
    approves = "Approve"  # as the buttons say
    rejects = "Reject"

    def approve(self, row: Any, reason: str, staff: Any) -> str:
        """Approves a row, and returns the page's message."""
        raise TypeError("a queue defines approve")

    def reject(self, row: Any, reason: str, staff: Any) -> str:
        raise TypeError("a queue defines reject")

    def is_waiting(self, row: Any) -> bool:
        """True if it is for staff to decide it now."""
        return bool(row.status == self.waiting)

    def shown_status(self, row: Any) -> str:
        return status_words(self.noun, str(row.status))

    def take_code(self, request: HttpRequest) -> None:
        """Raises a Failure."""
        raise TypeError("a queue that takes codes defines take_code")

    def subject_of(self, row: Any) -> str:
        """Subject of the review, for the page's heading."""
        if hasattr(row, "store"):
            return f"{self.singular()} for {row.store}"
        return f"{self.singular()} {self.title_of(row)}"

    def decision_facts(self, row: Any) -> list[tuple[str, Any]]:
        """First facts of the decision."""
        return []

    def more_facts(self, row: Any) -> list[tuple[str, Any]]:
        """Facts that the row's own columns don't have."""
        return []

    def sections(self, row: Any) -> list[Section]:
        """Known facts of the requester, beside the row."""
        return []

    def record_sections(self, row: Any) -> list[Section]:
        """Sections of the record's own page below its fields."""
        return []

    def needs_reason(self, row: Any) -> bool:
        """True if an approval needs a reason too."""
        return False

    def get_urls(self) -> list[URLPattern]:
        decide = path(
            "<uuid:row_id>/decide/",
            self.admin_site.admin_view(self.decide),
            name=self._page("decide"),
        )
        return [decide, *super().get_urls()]

    def _page(self, name: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{name}"

    @property
    def is_changed_here(self) -> bool:
        return True

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        """The record's page leads to its decision while it waits for one."""
        row = self.get_object(request, str(object_id)) if object_id is not None else None
        context = {**(extra_context or {})}
        if row is not None:
            context["sections"] = self.record_sections(row)
            if self.is_waiting(row):
                page = reverse(f"admin:{self._page('decide')}", args=[row.pk])
                context["decide_url"] = page
        return super().changeform_view(request, object_id, form_url, context)

    @admin.display(description="Status")
    def decision(self, row: Any) -> str:
        if not self.is_waiting(row):
            own = Queue.shown_status(self, row)
            status = self.shown_status(row)
            return badge(self.noun, row.status) if status == own else status
        page = reverse(f"admin:{self._page('decide')}", args=[row.pk])
        return format_html('<a class="decide" href="{}">Review</a>', page)

    def decide(self, request: HttpRequest, row_id: Any) -> HttpResponse:
        """Read everything, say yes or no; a no needs a reason."""
        row = self.get_object(request, str(row_id))
        if row is None:
            raise Http404
        errors: list[str] = []
        reason = ""
        if request.method == "POST":
            decision = request.POST.get("decision")
            reason = typed_reason(request)
            errors = self._decide(request, row, decision, reason)
            if not errors:
                return HttpResponseRedirect(reverse(f"admin:{self._page('changelist')}"))
        return self._show(request, row, errors, reason)

    def _show(self, request: HttpRequest, row: Any, errors: list[str], reason: str) -> HttpResponse:
        facts = [
            (self.label_of(name), self.value_of(row, name))
            for name in in_one_order([field.name for field in self.opts.fields])
            if name not in (self.exclude or ())
        ]
        is_for_others = row.status == self.waiting and not self.is_waiting(row)
        context = {
            **self.admin_site.each_context(request),
            "title": sentence(f"{'' if is_for_others else 'review '}{self.subject_of(row)}"),
            "opts": self.opts,
            "list_name": self.list_name,
            "row": row,
            "request_facts": [
                (name, value)
                for name, value in [*self.decision_facts(row), *self.more_facts(row)]
                if value not in (None, "")
            ],
            "facts": [(name, value) for name, value in facts if value not in (None, "")],
            "sections": self.sections(row),
            "needs_reason": self.needs_reason(row),
            "errors": errors,
            "reason": reason,
            "is_waiting": self.is_waiting(row),
            "is_decided": row.status != self.waiting,
            "noun": self.noun,
            "status": self.shown_status(row),
            "may_approve": self.has_approval and may(request, self.approving),
            "may_reject": may(request, self.rejecting),
            "takes_code": self.takes_code,
            "code_is_for_both": self.takes_code_to_reject,
            "reason_help": f"Kept with the decision. {self.rejection_is_told_to}",
            "heading": self.heading,
            "approves": self.approves,
            "rejects": self.rejects,
        }
        return render(request, "staff/decision.html", context, status=422 if errors else 200)

    def _decide(
        self, request: HttpRequest, row: Any, decision: str | None, reason: str
    ) -> list[str]:
        if decision not in ("approve", "reject"):
            return ["Choose a decision"]
        if not may(request, self.approving if decision == "approve" else self.rejecting):
            raise PermissionDenied
        if decision == "approve" and not self.has_approval:
            return ["There is nothing to approve here"]
        if decision == "reject" and not reason:
            return ["A rejection needs a reason"]
        if decision == "approve" and not reason and self.needs_reason(row):
            return ["This approval needs a reason"]
        try:
            if self.takes_code and (decision == "approve" or self.takes_code_to_reject):
                self.take_code(request)
            carry_out = self.approve if decision == "approve" else self.reject
            outcome = carry_out(row, reason, request.user)
        except Failure as refusal:
            return [typographic(refusal.text)]
        self.log_change(request, row, f"{outcome}: {reason}" if reason else outcome)
        messages.success(request, f"{sentence(self.subject_of(row))}: {outcome}")
        return []
