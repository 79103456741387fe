"""Payout schedules for staff."""

from typing import ClassVar

from django.contrib import admin

from apps.core.text.words import code_words
from apps.payouts.models import Schedule
from apps.staff import lists
from apps.staff.pages import (
    ReadOnly,
)


class ScheduleAdmin(ReadOnly):
    model = Schedule
    labels: ClassVar = {
        "anchor_day": "Day of the month",
        "last_failure": "Last error",
        "last_skip_reason": "Reason the last run was skipped",
        "minimum_fiat_cents": "Minimum payout",
    }
    list_display = ["shop", "coin", "frequency", "next_payout", "last_result", "running"]
    says_nothing: ClassVar = {"anchor_day": lambda row: row.frequency != Schedule.Frequency.MONTHLY}
    running = lists.flag("is_active", "Active")
    list_filter = ["mode", "frequency", "is_active"]
    list_select_related = ["store", "asset__chain"]
    search_fields = ["id", "store"]
    search_help_text = "Schedule ID, or the beginning of a store’s name"
    coin = lists.asset()
    next_payout = lists.by_store("next_payout_at", "Next payout")
    ordering = ["-created_at"]
    exclude = ["minimum_fiat_currency"]  # the minimum itself is shown in it

    def title_of(self, row: Schedule) -> str:
        return f"of {row.store}, {row.asset.full_name}"

    @admin.display(description="Last result")
    def last_result(self, row: Schedule) -> str | None:
        return row.last_failure or code_words(row.last_skip_reason or "") or None
