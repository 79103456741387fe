"""What is asked for with a report: text as it was typed, which the service reads in a fixed
order."""

from msgspec import Struct


class ReportRequest(Struct, frozen=True, kw_only=True):
    report_type: str
    start_date: str | None
    end_date: str | None
    currency: str | None = None
    format: str | None = None
