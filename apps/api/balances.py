"""/balances: what a store holds, from the ledger."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing.views import ApiView
from apps.core import clock
from apps.ledger.documents import BalancesDocument, balances_document


class Balances(ApiView):
    """A store's balances, by asset."""

    answers = {"GET": BalancesDocument}

    def get(self, request: Request) -> Response:
        return Response(balances_document(self.access, clock.real_now()))
