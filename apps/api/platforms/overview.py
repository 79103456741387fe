"""/platform/overview and /platform/payments: a platform's figures and what its sub-merchants are paid."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.platforms.door import PlatformDoor
from apps.api.plumbing import lists
from apps.platforms.documents import payment_row
from apps.platforms.selectors import filtered_payments, payments_of_platform
from apps.platforms.services.overview import overview

PER_PAGE = 25


class Overview(PlatformDoor):
    """Merchants, volume and fees of a range of days."""

    def get(self, request: Request) -> Response:
        return Response(overview(self.access, request.query_params.get("from"), request.query_params.get("to")))


class PlatformPayments(PlatformDoor):
    """The payments of the sub-merchants, newest first."""

    def get(self, request: Request) -> Response:
        query = request.query_params
        rows = filtered_payments(payments_of_platform(self.access), account_id=query.get("account_id"), status=query.get("status"))
        return Response(lists.data_and_meta(*lists.page_of(request, rows, payment_row, per_page=PER_PAGE)))
