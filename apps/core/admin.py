"""Staff see which mail left and which was given up, never what stands in it; and the rows that jobs fail at, to have them retried."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.core import rows, staff_roles
from apps.core.models import OutgoingMail, RowFailure
from apps.core.staff import ReadOnly, button


@admin.register(OutgoingMail)
class OutgoingMailAdmin(ReadOnly):
    list_display = ("created_at", "template", "to", "status", "attempts", "error", "sent_at")
    list_filter = ("status", "template")
    search_fields = ("to", "key")
    ordering = ("-created_at",)
    exclude = ("sealed_letter", "key")


@admin.register(RowFailure)
class RowFailureAdmin(ReadOnly):
    list_display = ("job", "row_id", "error", "tries", "since", "not_before", "dead_at")
    list_filter = (("dead_at", admin.EmptyFieldListFilter), "job")
    search_fields = ("=row_id", "error")
    ordering = ("-dead_at", "-since")
    actions = ("retry",)

    @button(staff_roles.JOB_RETRY, "Retry")
    def retry(self, request: HttpRequest, failures: "QuerySet[RowFailure]") -> None:
        for failure in failures:
            self.log_change(request, failure, "Retry")
        messages.success(request, f"{rows.retry(failures)} to be tried again")
