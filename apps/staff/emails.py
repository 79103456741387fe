"""Staff see which mail left and which was given up, never what stands in it; and the rows that jobs
fail at, to have them retried."""

from typing import ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import pluralize

from apps.core import rows
from apps.core.models import OutgoingMail, RowFailure
from apps.core.templatetags.tillgate import moment
from apps.staff import lists
from apps.staff.email_names import email_name
from apps.staff.pages import ReadOnly, button, typed_reason
from apps.stores import staff_roles


@admin.register(OutgoingMail)
class OutgoingMailAdmin(ReadOnly):
    list_display = ("created", "letter", "recipient", "error", "sent_time", "state")
    list_filter = ("status",)
    search_fields = ("id", "mailbox", "key")
    search_help_text = "Recipient’s email address"
    ordering = ("-created_at",)
    created = lists.when("created_at", "Created")
    recipient = lists.text("to", "To")
    sent_time = lists.when("sent_at", "Sent")
    state = lists.status("mail")
    exclude = ("sealed_letter", "key")
    value_texts: ClassVar = {"template": lambda row: email_name(row.template)}

    @admin.display(description="Type")
    def letter(self, row: OutgoingMail) -> str:
        return email_name(row.template)

    def title_of(self, row: OutgoingMail) -> str:
        return f"to {row.to}"


@admin.register(RowFailure)
class RowFailureAdmin(ReadOnly):
    list_display = ("job_name", "row", "failed_with", "tries", "began", "ended")
    list_display_links = ("job_name",)
    job_name = lists.clipped("job", "Job")
    row = lists.clipped("row_id", "Record ID")
    list_filter = (lists.present("dead_at", "status", "Given up", "Retrying"),)
    search_fields = ("row_id", "job")
    search_help_text = "ID of the record, or name of the job"
    ordering = ("-dead_at", "-since")
    actions = ("retry", "set_aside")
    failed_with = lists.text("error", "Error")
    began = lists.when("since", "Failing since")

    def title_of(self, row: RowFailure) -> str:
        return str(row.job)

    @admin.display(description="Given up")
    def ended(self, row: RowFailure) -> str:
        if row.dead_at is None:
            return "Retrying"
        return f"Set aside: {row.set_aside_reason}" if row.set_aside_reason else moment(row.dead_at)

    @button(staff_roles.JOB_RETRY, "Retry now")
    def retry(self, request: HttpRequest, failures: "QuerySet[RowFailure]") -> None:
        for failure in failures:
            self.log_change(request, failure, "Retry")
        count = rows.retry(failures)
        messages.success(request, f"{_records(count)} will be retried")

    @button(staff_roles.JOB_RETRY, "Set aside")
    def set_aside(self, request: HttpRequest, failures: "QuerySet[RowFailure]") -> None:
        for failure in failures:
            self.log_change(request, failure, "Set aside")
        count = rows.set_aside(failures, typed_reason(request))
        messages.success(request, f"{_records(count)} set aside")


def _records(count: int) -> str:
    return f"{count:,} record{pluralize(count)}"
