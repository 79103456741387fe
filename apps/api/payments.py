"""/payments: create, list, read, history, summary, reconciliation, and the deposits that test mode
simulates."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, ClassVar

from django.conf import settings
from msgspec import field
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api import composites
from apps.api.plumbing import lists
from apps.api.plumbing.queries import DayRange, PagedQuery, PerPage, choice, described
from apps.api.plumbing.refusals import ErrorDocument, ErrorShape
from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure
from apps.core.messages.documents import Day, ListPage
from apps.core.messages.fields import Invalid
from apps.payments import list_reads, selectors
from apps.payments.documents import parts, summary
from apps.payments.documents.history import PaymentEventDocument, event
from apps.payments.documents.reconciliation import ReconciliationDocument
from apps.payments.models import Payment
from apps.payments.requests import (
    PaymentRequest,
    SimulationRequest,
    WalletPaymentRequest,
    payment_request,
)
from apps.payments.services import simulate, test_wallet
from apps.payments.services.create import NoAcceptedAsset, answer_refused, create_payment
from apps.payments.services.prices import UnsupportedCurrency
from apps.payments.snapshot import find_snapshot, snapshot_of


class PaymentFilters(PagedQuery, frozen=True, kw_only=True):
    status: Annotated[str, choice(Payment.Status.values)] | None = None
    reference: Annotated[str, described("A part of it, in either case")] | None = None
    q: Annotated[str, described("Another name of `reference`")] | None = None
    order_id: str | None = None
    first_day: Day | None = field(name="from", default=None)
    last_day: Day | None = field(name="to", default=None)
    per_page: PerPage = 10

    def cost(self) -> int:
        search = settings.READ_TOKENS_PER_SEARCH if self.reference or self.q else 0
        return super().cost() + search


class Payments(ApiView):
    """Create a payment intent, or list them newest first."""

    query = PaymentFilters
    answers = {"GET": ListPage[parts.PaymentIntentRow], "POST": parts.PaymentIntentDocument}
    bodies = {"POST": PaymentRequest}
    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {
        NoAcceptedAsset: ErrorDocument,
        UnsupportedCurrency: ErrorDocument,
    }
    wrapper = "payment_intent"
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        key = self.idempotency_key(request)
        try:
            order = self.read(request, payment_request(self.access.mode))
        except Invalid as refusal:
            return self._answer(answer_refused(self.access, refusal, key), is_new=False)
        payment, is_new = create_payment(self.access, order, key)
        return self._answer(payment, is_new=is_new)

    @staticmethod
    def _answer(payment: Payment, *, is_new: bool) -> Response:
        return Response(
            parts.created(payment),
            status=201,
            headers=None if is_new else {"Idempotent-Replayed": "true"},
        )

    def get(self, request: Request) -> Response:
        query = PaymentFilters.read(request.query_params)
        filters = list_reads.PaymentCriteria(
            status=query.status,
            reference=query.reference or query.q,
            order_id=query.order_id,
            first_day=query.first_day,
            last_day=query.last_day,
        )
        read = partial(list_reads.page_of_payments, self.access, self.access.store, filters)
        return Response(lists.page_by(query, read, parts.row))


class PaymentView(ApiView):
    """A view of one intent of the caller's store and mode."""

    def payment(self, id: str) -> Payment:
        payment = selectors.payment_visible_to(self.access, self.access.store, id)
        if payment is None:
            raise self.missing
        return payment


class PaymentById(PaymentView):
    """Everything there is to know about an intent."""

    answers = {"GET": composites.PaymentIntentDetail}

    def get(self, request: Request, id: str) -> Response:
        return Response(
            composites.payment_detail(find_snapshot(self.access, self.access.store, id))
        )


class PaymentEvents(PaymentView):
    """The history of an intent, oldest first."""

    answers = {"GET": list[PaymentEventDocument]}

    def get(self, request: Request, id: str) -> Response:
        return Response([event(row) for row in self.payment(id).events.all()])


class Summary(ApiView):
    """Counts, volume and a day-by-day series of a range."""

    query = DayRange
    answers = {"GET": summary.PaymentSummaryDocument}

    def get(self, request: Request) -> Response:
        days = DayRange.read(request.query_params)
        return Response(summary.summary(self.access, days.first, days.last, self.access.now()))


class Reconciliation(PaymentView):
    """Tell whether chain, intent and ledger agree."""

    answers = {"GET": ReconciliationDocument}

    def get(self, request: Request, id: str) -> Response:
        return Response(composites.reconciliation_of(self.payment(id)))


class SimulatedPayments(PaymentView):
    """Credit a deposit without a chain; test mode only."""

    shape = ErrorDocument
    wrapper = "simulated_payment"
    wrapper_is_optional = True
    bodies = {"POST": SimulationRequest}
    answers = {"POST": composites.PaymentSimulated}
    statuses = {"POST": 201}

    def refusal(self, refusal: Invalid) -> Failure:
        return simulate.refusal_of(refusal)

    def post(self, request: Request, id: str) -> Response:
        if self.access.is_live:
            raise simulate.LiveMode
        payment = self.payment(id)
        order = self.read(request, SimulationRequest)
        payment, deposit = simulate.simulate_deposit(self.access, payment, order)
        return Response(composites.simulated_payment(snapshot_of(payment), deposit), status=201)


class TestPayments(PaymentView):
    """Let the service's test wallet pay an intent on the test chain; test mode only."""

    shape = ErrorDocument
    wrapper = "test_payment"
    wrapper_is_optional = True
    bodies = {"POST": WalletPaymentRequest}
    answers = {"POST": test_wallet.WalletPaymentDocument}
    statuses = {"POST": 202}

    def refusal(self, refusal: Invalid) -> Failure:
        return test_wallet.InvalidTestAmount()

    def post(self, request: Request, id: str) -> Response:
        if self.access.is_live:
            raise test_wallet.NotInLiveMode
        payment = self.payment(id)
        order = self.read(request, WalletPaymentRequest)
        return Response(test_wallet.send_test_payment(self.access, payment, order), status=202)
