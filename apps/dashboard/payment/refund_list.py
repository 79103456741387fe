"""All refunds of a store: the list with its filters and sums, and the same list as CSV."""

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext_noop

from apps.dashboard.site.views import Answer, PageRequest
from apps.dashboard.tables.filters import Filters
from apps.dashboard.tables.money_columns import REFUNDS, refund_worth
from apps.dashboard.tables.money_lists import Worth, list_page, summed
from apps.payments import selectors
from apps.payments.models import Refund

_TABS = {
    "": gettext_noop("All"),
    "pending": gettext_noop("Waiting to be sent"),
    "submitted": gettext_noop("Sent"),
    "confirmed": gettext_noop("Refunded"),
    "failed": gettext_noop("Failed"),
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
    """Sums of the rows; failed ones came back, and count for nothing."""
    return [
        Worth(refund.asset, refund.amount_atomic, refund_worth(refund))
        for refund in summed(rows)
        if refund.status != Refund.Status.FAILED
    ]
