"""Requests about reports: text as it was typed, which the service reads in a fixed order."""

from msgspec import Struct


class ReportRequest(Struct, frozen=True, kw_only=True):
    report_type: str
    start_date: str | None
    end_date: str | None
    currency: str | None = None
    format: str | None = None
    time_zone: str = ""  # whose days they are; empty: UTC
    may_be_so_far: bool = False  # of days that aren't over as well
