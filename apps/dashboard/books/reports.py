"""Reports: asking for one, how far it is, and its file. Anyone who may read balances may ask, so
asking is a GET, as on the API."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Self

from django.http import HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext, gettext_noop

from apps.core.messages.invalid import Invalid
from apps.core.text.days import zone_named
from apps.core.text.moments import dated
from apps.core.web.forms import Form
from apps.dashboard.site.views import PageRequest, Refusals, find, go, is_htmx, show
from apps.dashboard.tables import days
from apps.reports import selectors, states
from apps.reports.models import Report
from apps.reports.requests import ReportRequest
from apps.reports.services.request import (
    CLOSED_AFTER_HOUR,
    DAYS_MAX,
    FORMATS,
    InvalidFormat,
    InvalidRange,
    RangeTooLarge,
    RangeUnavailable,
    available_through,
    download_url,
    request_report,
)
from apps.stores.models import Currency

SHOWN = 50
# What is wrong with the days, without the names that the API has for them.
_SENTENCES = {
    "start_date is required": gettext_noop("The first day is required"),
    "end_date is required": gettext_noop("The last day is required"),
    "start_date is not a date": gettext_noop("The first day is not a date"),
    "end_date is not a date": gettext_noop("The last day is not a date"),
    "end_date must be on or after start_date": gettext_noop(
        "The last day must be on or after the first day"
    ),
}
TEXT_MAX = 30


class ReportForm(Form):
    """Asked for by a GET, so what is typed is bounded here."""

    names = ("report_type", "format", "currency", "start_date", "end_date")

    def refuse(self, refusal: Exception) -> Self:
        """The API tells ranges by code and days by the names of fields; a person reads it in
        words."""
        if isinstance(refusal, RangeTooLarge):
            refusal = InvalidRange(
                gettext("A report covers at most {days} days").format(days=DAYS_MAX),
                field=refusal.field,
            )
        elif isinstance(refusal, RangeUnavailable):
            future = gettext("Choose a last day up to today, {day}").format(
                day=_day(refusal.through)
            )
            refusal = InvalidRange(future, field=refusal.field)
        elif isinstance(refusal, InvalidFormat):
            other = gettext("This report isn’t made in this format. Choose another one.")
            refusal = InvalidRange(other, field=refusal.field)
        elif isinstance(refusal, InvalidRange):
            refusal = InvalidRange(_in_words(str(refusal)), field=refusal.field)
        return super().refuse(refusal)


def _in_words(text: str) -> str:
    return gettext(_SENTENCES.get(text, text))


@dataclass(frozen=True)
class Preset:
    """A range that accountants ask for."""

    name: str
    first: date
    last: date


def index(request: PageRequest) -> HttpResponse:
    """The form and the newest reports; with a type in the address that report is asked for. Days
    are the store's, as on the statement."""
    today = days.today(request.access, days.zone_of_books(request.access))
    usual = {
        "report_type": Report.Type.ACCOUNTING_TRANSACTIONS,
        "start_date": f"{today.replace(day=1)}",
        "end_date": f"{today}",
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
        zone = str(days.zone_of_books(request.access))
        order = ReportRequest(**form.values, time_zone=zone, may_be_so_far=True)
        request_report(request.access, order)
    except Refusals as refusal:
        return _page(request, form.refuse(refusal))
    return go("reports") if not is_htmx(request) else _page(request, form)


def _page(request: PageRequest, form: Form) -> HttpResponse:
    zone = days.zone_of_books(request.access)
    today = days.today(request.access, zone)
    reports = selectors.newest(request.access, SHOWN)
    context = {
        "form": form,
        "errors": form.common_errors,
        "types": [(value, gettext(label)) for value, label in Report.Type.choices],
        "formats": _formats(),
        "currencies": Currency.choices,
        "today": today,
        "through": _day(available_through(request.access.now().astimezone(zone))),
        "closed_hour": CLOSED_AFTER_HOUR,
        "zone_of_books": zone,
        "presets": _presets(today),
        "rows": [
            {
                "report": report,
                "type": gettext(report.get_report_type_display()),
                "format": gettext(report.get_format_display()),
                "percent": _percent(report),
                "zone": zone_named(report.time_zone),
            }
            for report in reports
        ],
        "is_waiting": any(report.status == states.PENDING for report in reports),
    }
    part = is_htmx(request) and not request.headers.get("HX-History-Restore-Request")
    return show(
        request,
        "dashboard/reports/_rows.html" if part else "dashboard/reports/list.html",
        context,
        status=form.status,
    )


def _formats() -> list[tuple[str, list[tuple[str, str]]]]:
    """Those of every report, then each report's own."""
    both = [form for form in Report.Format if all(form in forms for forms in FORMATS.values())]
    groups: list[tuple[str, list[Report.Format]]] = [("", both)]
    for report_type, forms in FORMATS.items():
        own = [form for form in Report.Format if form in forms and form not in both]
        groups.append((gettext(Report.Type(report_type).label), own))
    return [(name, [(form, gettext(str(form.label))) for form in forms]) for name, forms in groups]


def _day(day: date) -> str:
    return dated(datetime.combine(day, time()), "d MMM y")


def _percent(report: Report) -> int:
    return min(100, report.lines_done * 100 // report.lines_total) if report.lines_total else 0


def _presets(today: date) -> list[Preset]:
    this_month = today.replace(day=1)
    last_month_end = this_month - timedelta(days=1)
    return [
        Preset(gettext("Today so far"), today, today),
        Preset(gettext("This month so far"), this_month, today),
        Preset(gettext("Last month"), last_month_end.replace(day=1), last_month_end),
        Preset(gettext("This year so far"), today.replace(month=1, day=1), today),
    ]


def download(request: PageRequest, id: str) -> HttpResponse:
    """On to the file by a link of its own."""
    report: Report = find(Report.objects.visible_to(request.access).select_related("store"), id)
    url = download_url(report) if report.status == states.GENERATED else None
    return HttpResponseRedirect(url) if url else go("reports")
