"""/payouts: pay out, ask what a bank payout would bring, read, list, try again; and what an
off-ramp tells us."""

from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.plumbing import lists
from apps.api.plumbing.queries import PagedQuery, choice
from apps.api.plumbing.refusals import Refused
from apps.api.plumbing.views import ApiView
from apps.core import clock
from apps.core.errors import NotFound
from apps.core.messages.documents import Document, Id, Paginated
from apps.core.messages.fields import Invalid, Text
from apps.core.messages.requests import Request as Body
from apps.core.messages.requests import by
from apps.payouts import selectors
from apps.payouts.documents import PayoutDocument, PayoutQuoteDocument, payout_document
from apps.payouts.models import Payout
from apps.payouts.requests import PayoutBody, QuoteBody
from apps.payouts.services.callbacks import take_callback
from apps.payouts.services.create import answer_unread, create_payout
from apps.payouts.services.orders import refuse_unread
from apps.payouts.services.quote import quote_payout
from apps.payouts.services.retry import retry_payout


class PayoutFilters(PagedQuery, frozen=True, kw_only=True):
    status: Annotated[str, choice(Payout.Status.values)] | None = None
    payout_rail: Annotated[str, choice(Payout.Rail.values)] | None = None
    payout_schedule_id: Id | None = None
    asset_id: str | None = None


class OfframpCallbackBody(Body, frozen=True, kw_only=True):
    """The signed body of an off-ramp's callback, which its adapter reads."""

    id: Annotated[str, by(Text(100))]
    reference: Annotated[str, by(Text(50))] | None = None


class CallbackTaken(Document, frozen=True, kw_only=True):
    received: bool
    new: bool


class Payouts(ApiView):
    """Send a part of the balance to a wallet or a bank account, or list the payouts newest first.

    One that a person has to approve first (`pending_reason`: `awaiting_approval`) is made all the
    same, and reserves its coins.
    """

    refuses_unknown = asks_for_code = is_act = True
    query = PayoutFilters
    bodies = {"POST": PayoutBody}
    answers = {"GET": Paginated[PayoutDocument], "POST": PayoutDocument}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        filters = PayoutFilters.read(request.query_params)
        rows = selectors.filtered(
            selectors.payouts_visible_to(self.access),
            status=filters.status,
            rail=filters.payout_rail,
            schedule_id=filters.payout_schedule_id,
            asset_id=filters.asset_id,
        )
        return Response(lists.paginated(filters, rows, payout_document))

    def post(self, request: Request) -> Response:
        key = str(self.idempotency_key(request))
        caller = self.access.caller
        try:
            order = self.read(request, PayoutBody).request()
        except Invalid as refusal:
            is_bank = self.given(request, "fiat_payout_detail_id") is not None
            asset_id = self.given(request, "asset_id")
            earlier = answer_unread(
                self.access, refusal, key, asset_id=asset_id, is_bank=is_bank, caller=caller
            )
            return self._answer(earlier, is_new=False)
        payout, is_new = create_payout(self.access, order, key, caller=caller)
        return self._answer(payout, is_new=is_new)

    @staticmethod
    def _answer(payout: Payout, *, is_new: bool) -> Response:
        return Response(
            payout_document(payout),
            status=201,
            headers=None if is_new else {"Idempotent-Replayed": "true"},
        )


class PayoutQuote(ApiView):
    """A quote of a bank payout at this moment. Nothing is made or reserved."""

    bodies = {"POST": QuoteBody}
    answers = {"POST": PayoutQuoteDocument}

    def post(self, request: Request) -> Response:
        try:
            order = self.read(request, QuoteBody).request()
        except Invalid as refusal:
            refuse_unread(self.access, refusal, self.given(request, "asset_id"))
        return Response(quote_payout(self.access, order).document())


class PayoutById(ApiView):
    """One payout."""

    answers = {"GET": PayoutDocument}
    missing = NotFound("Payout not found")

    def get(self, request: Request, id: str) -> Response:
        return Response(payout_document(self.find(selectors.payouts_visible_to(self.access), id)))


class RetryPayout(ApiView):
    """Set a failed payout on its way again."""

    bodies = {"POST": None}
    answers = {"POST": PayoutDocument}
    missing = NotFound("Payout not found")
    refuses_unknown = asks_for_code = is_act = True

    def post(self, request: Request, id: str) -> Response:
        payout = retry_payout(
            self.find(selectors.payouts_visible_to(self.access), id), by=self.access
        )
        return Response(payout_document(payout))


class OfframpCallbacks(ApiView):
    """An off-ramp says that something has changed; signed with `Offramp-Signature`."""

    body_is_of_others = True
    bodies = {"POST": OfframpCallbackBody}
    answers = {"POST": CallbackTaken}
    further = {"POST": {401: Refused("It isn't signed by the off-ramp")}}

    def post(self, request: Request) -> Response:
        is_new = take_callback(
            request._request.body, request.headers.get("Offramp-Signature", ""), clock.real_now()
        )
        return Response(CallbackTaken(received=True, new=is_new))
