"""/payments: create, list, read, history, summary, reconciliation, and the deposits that test mode simulates."""

from functools import partial
from typing import Annotated, Any

from msgspec import field
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api import composed
from apps.api.plumbing import lists
from apps.api.plumbing.queries import Days, Paged, PerPage, choice, described
from apps.api.plumbing.views import Door
from apps.core.documents import Day, Page
from apps.core.errors import Coded
from apps.core.literal import Schema
from apps.payments import selectors
from apps.payments.documents import parts, summary
from apps.payments.models import Payment
from apps.payments.requests import PaymentRequest, payment_request
from apps.payments.services import test_wallet
from apps.payments.services.create import create_payment
from apps.payments.services.simulate import SCENARIOS, LiveMode, simulate_deposit
from apps.payments.whole import find_whole, whole_of

_TEXT = {"type": "string"}
SIMULATED_BODY: Schema = {
    "type": "object",
    "properties": {
        "scenario": {"type": "string", "enum": list(SCENARIOS), "default": "exact"},
        "settlement_amount": _TEXT,
        "amount": _TEXT,
        "amount_atomic": _TEXT,
        "reference": _TEXT,
        "asset_id": _TEXT,
        "confirmations": {"type": "integer"},
        "late": {"type": "boolean"},
    },
}


class PaymentFilters(Paged, frozen=True, kw_only=True):
    status: Annotated[str, choice(Payment.Status.values)] | None = None
    reference: Annotated[str, described("A part of it, in either case")] | None = None
    q: Annotated[str, described("Another name of `reference`")] | None = None
    order_id: str | None = None
    first_day: Day | None = field(name="from", default=None)
    last_day: Day | None = field(name="to", default=None)
    per_page: PerPage = 10


class Payments(Door):
    """Create a payment intent, or list them newest first."""

    query = PaymentFilters
    answers = {"GET": Page[parts.PaymentRow], "POST": parts.PaymentDocument}
    bodies = {"POST": PaymentRequest}
    wrapper = "payment_intent"
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        key = self.idempotency_key(request)
        asked = self.read(request, payment_request(self.access.mode))
        payment, is_new = create_payment(self.access, asked, key)
        return Response(parts.created(payment), status=201, headers=None if is_new else {"Idempotent-Replayed": "true"})

    def get(self, request: Request) -> Response:
        asked = PaymentFilters.read(request.query_params)
        wanted = selectors.Wanted(
            status=asked.status,
            reference=asked.reference or asked.q,
            order_id=asked.order_id,
            first_day=asked.first_day,
            last_day=asked.last_day,
        )
        read = partial(selectors.page_of_payments, self.access, self.access.store, wanted)
        return Response(lists.page_by(asked, read, parts.row))


class PaymentDoor(Door):
    """A view of one intent of the caller's store and mode."""

    def payment(self, id: str) -> Payment:
        return self.find(selectors.payments_seen_by(self.access), id)


class PaymentById(PaymentDoor):
    """Everything there is to know about an intent."""

    def get(self, request: Request, id: str) -> Response:
        return Response(composed.payment_detail(find_whole(self.access, self.access.store, id)))


class PaymentEvents(PaymentDoor):
    """The history of an intent, oldest first."""

    def get(self, request: Request, id: str) -> Response:
        return Response([parts.event(one) for one in self.payment(id).events.all()])


class Summary(Door):
    """Counts, volume and a day-by-day series of a range."""

    query = Days

    def get(self, request: Request) -> Response:
        asked = Days.read(request.query_params)
        return Response(summary.summary(self.access, asked.first, asked.last, self.access.now()))


class Reconciliation(PaymentDoor):
    """Whether chain, intent and ledger agree."""

    def get(self, request: Request, id: str) -> Response:
        return Response(composed.reconciliation_of(self.payment(id)))


class SimulatedPayments(PaymentDoor):
    """Credit a deposit without a chain; test mode only."""

    shape = Coded
    bodies = {"POST": SIMULATED_BODY}
    statuses = {"POST": 201}

    def post(self, request: Request, id: str) -> Response:
        if self.access.is_live:
            raise LiveMode
        payment = self.payment(id)
        body = self.body(request)
        fields: dict[str, Any] = body["simulated_payment"] if isinstance(body.get("simulated_payment"), dict) else body
        payment, deposit = simulate_deposit(self.access, payment, fields)
        told = {
            "reference": deposit.simulated_reference,
            "amount_atomic": str(deposit.amount_atomic),
            "confirmations": deposit.simulated_confirmations,
            "status": deposit.status,
        }
        return Response(
            {**composed.payment_detail(whole_of(payment)), "payment_status": payment.status, "simulated_payment": told}, status=201
        )


class TestPayments(PaymentDoor):
    """Let the service's test wallet pay an intent on the test chain; test mode only."""

    shape = Coded
    bodies = {"POST": {"type": "object", "properties": {"amount_atomic": _TEXT}}}
    statuses = {"POST": 202}

    def post(self, request: Request, id: str) -> Response:
        if self.access.is_live:
            raise test_wallet.LiveMode
        payment = self.payment(id)
        body = self.body(request)
        fields: dict[str, Any] = body["test_payment"] if isinstance(body.get("test_payment"), dict) else body
        return Response(test_wallet.send_test_payment(self.access, payment, fields), status=202)
