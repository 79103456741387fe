"""Reports: asking for one, how far it is, and its file. Whoever may read balances may ask, so
asking is a GET, as on the API."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Self

from django.http import HttpResponse, HttpResponseRedirect

from apps.core.messages.invalid import Invalid
from apps.core.web.forms import Form
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, is_htmx, show
from apps.reports import selectors, states
from apps.reports.models import Report
from apps.reports.requests import ReportRequest
from apps.reports.services.request import (
    CLOSED_AFTER_HOUR,
    DAYS_MAX,
    InvalidRange,
    RangeTooLarge,
    RangeUnavailable,
    available_through,
    download_url,
    request_report,
)
from apps.stores.models import Currency

SHOWN = 50
TEXT_MAX = 30


class ReportForm(Form):
    """Asked for by a GET, so what is typed is bounded here."""

    names = ("report_type", "format", "currency", "start_date", "end_date")

    def refuse(self, refusal: Exception) -> Self:
        """The API tells ranges by code and days by the names of fields; a person is told in
        words."""
        if isinstance(refusal, RangeTooLarge):
            refusal = InvalidRange(f"A report covers at most {DAYS_MAX} days", field=refusal.field)
        elif isinstance(refusal, RangeUnavailable):
            closed = (
                f"Days are available up to {refusal.through:%-d %b %Y}: the last ones aren’t"
                " closed yet"
            )
            refusal = InvalidRange(closed, field=refusal.field)
        elif isinstance(refusal, InvalidRange):
            refusal = InvalidRange(_in_words(str(refusal)), field=refusal.field)
        return super().refuse(refusal)


def _in_words(text: str) -> str:
    return text.replace("start_date", "the first day").replace("end_date", "the last day")


@dataclass(frozen=True)
class Preset:
    """A range that accountants ask for."""

    name: str
    first: date
    last: date


def index(request: PageRequest) -> HttpResponse:
    """The form and the newest reports; with a type in the address that report is asked for."""
    through = available_through(request.access.now())
    month = through.replace(day=1)
    usual = {
        "report_type": Report.Type.ACCOUNTING_TRANSACTIONS,
        "start_date": f"{month}",
        "end_date": f"{through}",
        "format": "pdf",
    }
    if "report_type" not in request.GET:
        return _page(request, ReportForm(usual))
    typed = {name: request.GET.get(name, "").strip()[:TEXT_MAX] for name in ReportForm.names}
    first, _, last = request.GET.get("preset", "")[:21].partition("/")
    form = ReportForm({**typed, "start_date": first, "end_date": last} if last else typed)
    try:
        if form.values["report_type"] not in Report.Type.values:
            raise Invalid("report_type", "choose_value")
        request_report(request.access, ReportRequest(**form.values))
    except Refusals as refusal:
        return _page(request, form.refuse(refusal))
    return go("reports") if not is_htmx(request) else _page(request, form)


def _page(request: PageRequest, form: Form) -> HttpResponse:
    through = available_through(request.access.now())
    reports = selectors.newest(request.access, SHOWN)
    context = {
        "form": form,
        "errors": form.common_errors,
        "types": Report.Type.choices,
        "formats": Report.Format.choices,
        "currencies": Currency.choices,
        "through": through,
        "closed_hour": CLOSED_AFTER_HOUR,
        "presets": _presets(through),
        "rows": [{"report": report, "percent": _percent(report)} for report in reports],
        "is_waiting": any(report.status == states.PENDING for report in reports),
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(
        request,
        "dashboard/reports/_rows.html" if part else "dashboard/reports/list.html",
        context,
        status=form.status,
    )


def _percent(report: Report) -> int:
    return min(100, report.lines_done * 100 // report.lines_total) if report.lines_total else 0


def _presets(through: date) -> list[Preset]:
    this_month = through.replace(day=1)
    last_month_end = this_month - timedelta(days=1)
    return [
        Preset("This month", this_month, through),
        Preset("Last month", last_month_end.replace(day=1), last_month_end),
        Preset("This year", through.replace(month=1, day=1), through),
    ]


def download(request: PageRequest, id: str) -> HttpResponse:
    """On to the file by a link of its own."""
    report: Report = find(Report.objects.visible_to(request.access).select_related("store"), id)
    url = download_url(report) if report.status == states.GENERATED else None
    return HttpResponseRedirect(url) if url else go("reports")
