"""All refunds of a store: the list with its filters and sums, and the same list as CSV."""

from django.db.models import QuerySet
from django.http import HttpResponse

from apps.dashboard.filters import Filters
from apps.dashboard.money_columns import REFUNDS, refund_worth
from apps.dashboard.money_lists import Worth, list_page, summed
from apps.dashboard.plumbing import Answer, PageRequest
from apps.payments import selectors
from apps.payments.models import Refund

_TABS = {
    "": "All",
    "pending": "Waiting to be sent",
    "submitted": "Sent",
    "confirmed": "Refunded",
    "failed": "Failed",
}


def index(request: PageRequest) -> HttpResponse:
    filters = Filters.of(request.GET, _TABS)
    return list_page(request, REFUNDS, filters, _rows(request, filters), _TABS, _add_up, {})


def export(request: PageRequest) -> Answer:
    """The filtered list as CSV, newest first."""
    return REFUNDS.csv(request, _rows(request, Filters.of(request.GET, _TABS)))


def _rows(request: PageRequest, filters: Filters) -> "QuerySet[Refund]":
    rows = selectors.search_refunds(selectors.refunds_visible_to(request.access), filters.q)
    rows = rows.filter(status=filters.status) if filters.status else rows
    return filters.within(rows.filter(asset_id=filters.coin) if filters.coin else rows)


def _add_up(request: PageRequest, rows: "QuerySet[Refund]") -> list[Worth]:
    """What failed has come back, and counts for nothing."""
    return [
        Worth(refund.asset, refund.amount_atomic, refund_worth(refund))
        for refund in summed(rows)
        if refund.status != Refund.Status.FAILED
    ]
