"""/reports: the index, and a report of each type, which is asked for and polled with the same request."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.views import Door
from apps.reports import selectors, states
from apps.reports.documents import api
from apps.reports.models import Report
from apps.reports.services.request import available_through, download_url, request_report

NEWEST_MAX = 50


class Reports(Door):
    """The 50 most recent reports, newest first, with links to those that are ready."""

    def get(self, request: Request) -> Response:
        rows = selectors.newest(self.access, NEWEST_MAX)
        entries = [(row, download_url(row, is_sure=False) if row.status == states.GENERATED else None) for row in rows]
        return Response(api.index_document(entries, available_through(self.access.now())))


class ReportOfType(Door):
    """200 with a link when the report is ready, 202 while it is being made."""

    report_type: ClassVar[str]
    queries = {
        "start_date": {"type": "string", "format": "date", "required": True},
        "end_date": {"type": "string", "format": "date", "required": True},
        "currency": {"type": "string", "description": "Only what was priced in it; all currencies when left out or unknown"},
        "format": {"type": "string", "enum": list(Report.Format.values), "default": str(Report.Format.PDF)},
    }

    def get(self, request: Request) -> Response:
        report = request_report(self.access, self.report_type, request.query_params)
        url = download_url(report) if report.status == states.GENERATED else None
        if url is None:
            return Response(api.pending_document(report), status=202)
        return Response(api.generated_document(report, url))


class AccountingTransactions(ReportOfType):
    """Every entry of the books in a range of days: 200 with a link when ready, 202 while it is being made."""

    report_type = Report.Type.ACCOUNTING_TRANSACTIONS


class MerchantStatement(ReportOfType):
    """Opening balances, what moved, closing balances: 200 with a link when ready, 202 while it is being made."""

    report_type = Report.Type.MERCHANT_STATEMENT
