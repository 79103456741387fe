"""/balance_swaps: an estimate, a swap of what the store has, one swap, or all of them."""

from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing import lists
from apps.api.plumbing.queries import PagedQuery, choice
from apps.api.plumbing.views import ApiView
from apps.core.errors import NotFound
from apps.core.messages.documents import Paginated
from apps.core.messages.fields import Invalid
from apps.swaps import selectors
from apps.swaps.documents import SwapDocument, SwapQuoteDocument, swap_document
from apps.swaps.models import Swap
from apps.swaps.requests import SwapBody
from apps.swaps.services.create import answer_unread, order_swap
from apps.swaps.services.quote import quote_swap


class SwapFilters(PagedQuery, frozen=True, kw_only=True):
    status: Annotated[str, choice(Swap.Status.values)] | None = None


class SwapQuote(ApiView):
    """A quote of a swap at this moment. Nothing is made or reserved."""

    bodies = {"POST": SwapBody}
    answers = {"POST": SwapQuoteDocument}

    def post(self, request: Request) -> Response:
        return Response(quote_swap(self.access, self.read(request, SwapBody).request()).document())


class Swaps(ApiView):
    """Swap a part of the balance, or list the swaps newest first."""

    refuses_unknown = asks_for_second_factor = is_act = True
    query = SwapFilters
    bodies = {"POST": SwapBody}
    answers = {"GET": Paginated[SwapDocument], "POST": SwapDocument}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        filters = SwapFilters.read(request.query_params)
        rows = selectors.filtered(selectors.swaps_visible_to(self.access), filters.status)
        return Response(lists.paginated(filters, rows, swap_document))

    def post(self, request: Request) -> Response:
        key = str(self.idempotency_key(request))
        try:
            order = self.read(request, SwapBody).request()
        except Invalid as refusal:
            return self._answer(answer_unread(self.access, refusal, key), is_new=False)
        swap, is_new = order_swap(self.access, order, key=key)
        return self._answer(swap, is_new=is_new)

    @staticmethod
    def _answer(swap: Swap, *, is_new: bool) -> Response:
        return Response(
            swap_document(swap),
            status=201,
            headers=None if is_new else {"Idempotent-Replayed": "true"},
        )


class SwapById(ApiView):
    """One swap."""

    answers = {"GET": SwapDocument}
    missing = NotFound("Balance swap not found")

    def get(self, request: Request, id: str) -> Response:
        return Response(swap_document(self.find(selectors.swaps_visible_to(self.access), id)))
