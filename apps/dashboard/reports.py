"""Reports: asking for one, how far it is, and its file. Whoever may read balances may ask, so asking is a GET, as on the API."""

from datetime import timedelta
from typing import Any

from django.http import HttpResponse, HttpResponseRedirect

from apps.core.web import status_of
from apps.dashboard.plumbing import PageRequest, Refusals, find, go, is_htmx, sentences, show
from apps.reports import selectors, states
from apps.reports.models import Report
from apps.reports.requests import ReportRequest
from apps.reports.services.request import (
    DAYS_MAX,
    RangeTooLarge,
    RangeUnavailable,
    available_through,
    download_url,
    request_report,
)
from apps.stores.models import Currency

SHOWN = 50
_FIELDS = ("start_date", "end_date", "currency", "format")
_LABELS = {"start_date": "The first day", "end_date": "The last day"}


def index(request: PageRequest) -> HttpResponse:
    """The form and the newest reports; with a type in the address that report is asked for."""
    through = available_through(request.access.now())
    month = through.replace(day=1)
    given = {"report_type": Report.Type.ACCOUNTING_TRANSACTIONS, "start_date": f"{month}", "end_date": f"{through}", "format": "pdf"}
    if "report_type" not in request.GET:
        return _page(request, given, [])
    given = {name: request.GET.get(name, "").strip()[:30] for name in ("report_type", *_FIELDS)}
    first, _, last = request.GET.get("preset", "")[:21].partition("/")
    if last:
        given |= {"start_date": first, "end_date": last}
    if given["report_type"] not in Report.Type.values:
        return _page(request, given, ["Choose a type of report."], status=422)
    try:
        request_report(request.access, ReportRequest(**given))
    except Refusals as refusal:
        return _page(request, given, _words(refusal), status=status_of(refusal))
    return go("reports") if not is_htmx(request) else _page(request, given, [])


def _words(refusal: Exception) -> list[str]:
    """The API tells ranges by code; a person is told in words."""
    if isinstance(refusal, RangeTooLarge):
        return [f"A report covers at most {DAYS_MAX} days."]
    if isinstance(refusal, RangeUnavailable):
        return [f"Days are available up to {refusal.through:%-d %b %Y}: the last ones aren't closed yet."]
    texts = sentences(refusal)
    for name, label in _LABELS.items():
        texts = [text.replace(name.capitalize(), label).replace(name, label.lower()) for text in texts]
    return texts


def _page(request: PageRequest, given: dict[str, str], errors: list[str], status: int = 200) -> HttpResponse:
    through = available_through(request.access.now())
    reports = selectors.newest(request.access, SHOWN)
    context: dict[str, Any] = {
        "given": given,
        "errors": errors,
        "types": Report.Type.choices,
        "formats": Report.Format.choices,
        "currencies": Currency.choices,
        "through": through,
        "presets": _presets(through),
        "rows": [{"report": one, "percent": _percent(one)} for one in reports],
        "is_waiting": any(one.status == states.PENDING for one in reports),
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(request, "dashboard/reports/_rows.html" if part else "dashboard/reports/list.html", context, status=status)


def _percent(report: Report) -> int:
    return min(100, report.lines_done * 100 // report.lines_total) if report.lines_total else 0


def _presets(through: Any) -> list[dict[str, str]]:
    """Ranges that accountants ask for."""
    this_month = through.replace(day=1)
    last_month_end = this_month - timedelta(days=1)
    ranges = {
        "This month": (this_month, through),
        "Last month": (last_month_end.replace(day=1), last_month_end),
        "This year": (through.replace(month=1, day=1), through),
    }
    return [{"name": name, "first": first.isoformat(), "last": last.isoformat()} for name, (first, last) in ranges.items()]


def download(request: PageRequest, id: str) -> HttpResponse:
    """On to the file by a link of its own."""
    report: Report = find(Report.objects.seen_by(request.access).select_related("store"), id)
    url = download_url(report) if report.status == states.GENERATED else None
    return HttpResponseRedirect(url) if url else go("reports")
