"""/platform/overview and /platform/payments: a platform's figures and what its sub-merchants are
paid."""

from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.platforms.plumbing import PlatformView
from apps.api.plumbing import lists
from apps.api.plumbing.queries import DayRange, PagedQuery, choice
from apps.core.messages.documents import Id, ListPage
from apps.payments.models import Payment
from apps.platforms.documents import PlatformOverviewDocument, PlatformPayment, payment_row
from apps.platforms.selectors import filtered_payments, payments_of_platform
from apps.platforms.services.overview import days_of, overview


class PlatformPaymentFilters(PagedQuery, frozen=True, kw_only=True):
    account_id: Id | None = None
    status: Annotated[str, choice(Payment.Status.values)] | None = None


class PlatformOverviewView(PlatformView):
    """Merchants, volume and fees of a range of days."""

    query = DayRange
    answers = {"GET": PlatformOverviewDocument}

    def get(self, request: Request) -> Response:
        query = DayRange.read(request.query_params)
        days = days_of(query.first, query.last, self.access.now().date())
        return Response(overview(self.access, days))


class PlatformPayments(PlatformView):
    """The payments of the sub-merchants, newest first."""

    query = PlatformPaymentFilters
    answers = {"GET": ListPage[PlatformPayment]}

    def get(self, request: Request) -> Response:
        filters = PlatformPaymentFilters.read(request.query_params)
        rows = filtered_payments(
            payments_of_platform(self.access), account_id=filters.account_id, status=filters.status
        )
        return Response(lists.page(filters, rows, payment_row))
