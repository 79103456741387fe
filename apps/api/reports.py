"""/reports: the index, and a report of each type, which is asked for and polled with the same
request."""

from typing import Annotated, ClassVar

from msgspec import UNSET, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.queries import Query, choice, described
from apps.api.plumbing.refusals import Refused
from apps.api.plumbing.views import ApiView
from apps.core.messages.documents import Day, Document
from apps.reports import selectors, states
from apps.reports.documents import api
from apps.reports.models import Report
from apps.reports.requests import ReportRequest
from apps.reports.services.request import (
    FORMATS,
    available_through,
    download_url,
    request_report,
)

NEWEST_MAX = 50


class Reports(ApiView):
    """The 50 most recent reports, newest first, with links to those that are ready."""

    answers = {"GET": api.ReportIndex}

    def get(self, request: Request) -> Response:
        rows = selectors.newest_closed(self.access, NEWEST_MAX)
        entries = [
            (row, download_url(row, is_sure=False) if row.status == states.GENERATED else None)
            for row in rows
        ]
        return Response(api.index_document(entries, available_through(self.access.now())))


class ReportQuery(Query, frozen=True, kw_only=True):
    start_date: Day | None
    end_date: Day | None
    currency: (
        Annotated[
            str, described("Only what was priced in it; all currencies when left out or unknown")
        ]
        | None
    ) = None
    format: str | None = str(Report.Format.PDF)
    time_zone: (
        Annotated[
            str,
            described(
                "Whose days they are, such as `Europe/Berlin`; UTC when left out, and the store's"
                " zone in the formats of accounting programs"
            ),
        ]
        | None
    ) = None


class TransactionsQuery(ReportQuery, frozen=True, kw_only=True):
    format: Annotated[str, choice(FORMATS[Report.Type.ACCOUNTING_TRANSACTIONS])] | None = str(
        Report.Format.PDF
    )


class StatementQuery(ReportQuery, frozen=True, kw_only=True):
    format: Annotated[str, choice(FORMATS[Report.Type.MERCHANT_STATEMENT])] | None = str(
        Report.Format.PDF
    )


class TaxReportQuery(ReportQuery, frozen=True, kw_only=True):
    format: Annotated[str, choice(FORMATS[Report.Type.TAX_REPORT])] | None = str(Report.Format.PDF)


class RangeRefused(Document, frozen=True, kw_only=True):
    """A range that is too long says how long one may be, and one that isn't over yet until when one
    may reach."""

    error: str
    max_days: int | UnsetType = UNSET
    available_through: Day | UnsetType = UNSET


class ReportOfType(ApiView):
    """200 with a link when the report is ready, 202 while it is being made."""

    report_type: ClassVar[str]
    query: ClassVar[type[ReportQuery]]
    answers = {"GET": api.ReportReady}
    also = {"GET": {202: api.ReportPending}}
    further = {"GET": {422: Refused("The range or the format can't be", RangeRefused)}}

    def get(self, request: Request) -> Response:
        query = self.query.read(request.query_params)
        order = ReportRequest(
            report_type=self.report_type,
            start_date=query.start_date,
            end_date=query.end_date,
            currency=query.currency,
            format=query.format,
            time_zone=query.time_zone or "",
        )
        report = request_report(self.access, order)
        url = download_url(report) if report.status == states.GENERATED else None
        if url is None:
            return Response(api.pending_document(report), status=202)
        return Response(api.generated_document(report, url))


class AccountingTransactions(ReportOfType):
    """Every entry of the books in a range of days: 200 with a link when ready, 202 while it is
    being made."""

    report_type = Report.Type.ACCOUNTING_TRANSACTIONS
    query = TransactionsQuery


class MerchantStatement(ReportOfType):
    """Opening balances, what moved, closing balances: 200 with a link when ready, 202 while it is
    being made."""

    report_type = Report.Type.MERCHANT_STATEMENT
    query = StatementQuery


class TaxReport(ReportOfType):
    """Taxes of invoices less credit notes, by month, country, category and rate: 200 with a link
    when ready, 202 while it is being made."""

    report_type = Report.Type.TAX_REPORT
    query = TaxReportQuery
