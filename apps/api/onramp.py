"""Card payments of a checkout: what each method costs, opening one, and the callbacks of the
networks that take them.

All public: a checkout's link is the only key, a callback's signature the other. Refusals are plain
strings.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct, field
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.checkout import CheckoutNotFound, checkout_payment
from apps.api.plumbing.queries import Query, described
from apps.api.plumbing.refusals import ErrorShape, ErrorText, Refused
from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure, NotFound
from apps.core.messages.documents import Document
from apps.core.messages.fields import Invalid, check_storable
from apps.onramp.documents import CardMethodsDocument, CardSessionDocument, session_document
from apps.onramp.requests import CardRequest
from apps.onramp.services.callbacks import take_callback
from apps.onramp.services.place import place_of
from apps.onramp.services.pricing import NoQuoteInTime, networks_to_ask, price_methods
from apps.onramp.services.sessions import NotOpened, open_session

# Their checkouts have no codes: a card network that fails is reported as a sentence.
_SENTENCES: Mapping[type[Failure], ErrorShape] = dict.fromkeys(
    (CheckoutNotFound, NoQuoteInTime, NotOpened), ErrorText
)


class OnrampLocationQuery(Query, frozen=True, kw_only=True):
    """Where the customer is, and which network alone is asked."""

    country: (
        Annotated[
            str, described("A two-letter country code; the header of the edge network comes first")
        ]
        | None
    ) = None
    region: str | None = None
    provider: str | None = None


class CallbackRead(Document, frozen=True, kw_only=True):
    result: str


class PaymentMethods(ApiView):
    """The ways to pay by card at this place, each priced by a real quote; best first."""

    query = OnrampLocationQuery
    answers = {"GET": CardMethodsDocument}
    missing = CheckoutNotFound()
    shapes = _SENTENCES

    def get(self, request: Request, reference: str) -> Response:
        payment = checkout_payment(reference)
        query = OnrampLocationQuery.read(request.query_params)
        try:
            check_storable(dict(request.query_params.items()))
        except Invalid as refusal:
            raise Failure(str(refusal)) from None
        provider = query.provider or ""
        networks_to_ask(payment, provider)
        place = place_of(request.headers, payment.store, query.country, query.region)
        return Response(price_methods(payment, place, provider).document())


class OnrampSessions(ApiView):
    """Open a card payment, or find the one under way."""

    missing = CheckoutNotFound()
    shapes = _SENTENCES
    bodies = {"POST": CardRequest}
    answers = {"POST": CardSessionDocument}
    statuses = {"POST": 201}

    def post(self, request: Request, reference: str) -> Response:
        payment = checkout_payment(reference)
        order = self.read(request, CardRequest)
        session = open_session(
            payment,
            order,
            lambda: place_of(request.headers, payment.store, order.country, order.region),
        )
        return Response(session_document(session), status=201)


class OnrampCallbackBody(Struct, frozen=True, kw_only=True):
    """As Onramper tells it; more may be there."""

    status: str
    payment_id: Annotated[str, described("The id of the card payment")] = field(
        name="partnerContext"
    )
    transaction_id: str | None = field(name="transactionId", default=None)
    paid_amount: float | None = field(name="inAmount", default=None)
    currency: str | None = field(name="sourceCurrency", default=None)
    wallet_address: str | None = field(name="walletAddress", default=None)


class OnrampCallback(ApiView):
    """A network's signed callback about a card payment."""

    missing = NotFound()
    body_is_of_others = True
    bodies = {"POST": OnrampCallbackBody}
    answers = {"POST": CallbackRead}
    further = {"POST": {401: Refused("It isn't signed by the network")}}

    def post(self, request: Request, id: str) -> Response:
        return Response(
            CallbackRead(result=take_callback(id, request.headers, request._request.body))
        )
