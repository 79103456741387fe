"""Second factors for staff. Two remove a lost one (apps.staff.decisions.approvals)."""

from typing import ClassVar
from urllib.parse import urlencode

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from apps.access.models import (
    SecondFactor,
)
from apps.staff import lists
from apps.staff.pages import ReadOnly


class SecondFactorAdmin(ReadOnly):
    model = SecondFactor
    labels: ClassVar = {
        "created_at": "Set up",
        "throttling_failure_count": "Failed attempts",
        "throttling_failure_timestamp": "Last failed attempt",
    }
    list_display = ["user", "finished", "created", "failures", "loss"]
    list_select_related = ["user"]
    search_fields = ["user__email_key"]
    search_help_text = "The beginning of an email address"
    finished = lists.flag("confirmed", "Confirmed")
    created = lists.when("created_at", "Set up")
    failures = lists.figure("throttling_failure_count", "Failed attempts")
    exclude = ["sealed_key", "sealed_backup_codes", "last_step"]

    def title_of(self, row: SecondFactor) -> str:
        return f"of {row.user}"

    @admin.display(description="Lost device")
    def loss(self, row: SecondFactor) -> str:
        page = reverse("admin:stores_staffrequest_ask", args=["second_factor"])
        return format_html(
            '<a href="{}?{}">Remove second factor</a>', page, urlencode({"email": row.user.email})
        )
