"""/agentic/payments: what this credential asked to be paid, called off and gave back."""

from django.db import models
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.requests.payments import AgentPayment, AgentRefund, agent_payment
from apps.agents.services.payments import answer_unread, create_payment, refund_payment
from apps.api.agentic.plumbing import AgentView
from apps.api.composites import PaymentIntentDetail, payment_detail
from apps.api.plumbing import lists
from apps.api.plumbing.queries import PagedQuery, PerPage
from apps.core.messages.documents import Data, ListPage
from apps.core.messages.fields import Invalid
from apps.payments.documents import parts
from apps.payments.documents.refund import RefundDocument, refund_document
from apps.payments.models import Payment
from apps.payments.selectors import payments_visible_to, refunds_of
from apps.payments.services.cancel import cancel_payment
from apps.payments.services.create import answer_refused
from apps.payments.snapshot import snapshot_of


class AgentPaymentView(AgentView):
    """A view of the credential's own intents."""

    def own(self) -> "models.QuerySet[Payment]":
        return payments_visible_to(self.access).filter(
            agent_credential_id=self.access.credential_id
        )

    def payment(self, id: str) -> Payment:
        return self.find(self.own(), id)


class AgentPaymentFilters(PagedQuery, frozen=True, kw_only=True):
    reference: str | None = None
    per_page: PerPage = 10


class AgentPayments(AgentPaymentView):
    """Create a payment intent, or list the credential's own newest first."""

    codes = {
        ("amount", "at_most"): "amount_too_large",
        "amount": "invalid_amount",
        "currency": "invalid_currency",
        "metadata": "invalid_metadata",
    }
    query = AgentPaymentFilters
    bodies = {"POST": AgentPayment}
    wrapper = "payment_intent"
    answers = {"GET": ListPage[parts.PaymentIntentRow], "POST": parts.PaymentIntentDocument}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        key = self.idempotency_key(request)
        try:
            order = self.read(request, agent_payment(self.access.mode))
        except Invalid as refusal:
            return self._answer(answer_refused(self.access, refusal, key), is_new=False)
        payment, is_new = create_payment(self.access, order, key, self.envelope(request))
        return self._answer(payment, is_new=is_new)

    @staticmethod
    def _answer(payment: Payment, *, is_new: bool) -> Response:
        return Response(
            parts.created(payment),
            status=201,
            headers=None if is_new else {"Idempotent-Replayed": "true"},
        )

    def get(self, request: Request) -> Response:
        filters = AgentPaymentFilters.read(request.query_params)
        rows = self.own()
        reference = filters.reference
        if reference:
            rows = (
                rows.filter(reference=reference.upper()) if reference.isprintable() else rows.none()
            )
        return Response(lists.page(filters, rows, parts.row))


class AgentPaymentById(AgentPaymentView):
    """Everything there is to know about an intent."""

    answers = {"GET": PaymentIntentDetail}

    def get(self, request: Request, id: str) -> Response:
        return Response(payment_detail(snapshot_of(self.payment(id))))


class AgentPaymentCancel(AgentPaymentView):
    """Call off an intent that nothing was paid on."""

    bodies = {"POST": None}
    answers = {"POST": PaymentIntentDetail}

    def post(self, request: Request, id: str) -> Response:
        return Response(payment_detail(snapshot_of(cancel_payment(self.payment(id)))))


class AgentRefunds(AgentPaymentView):
    """Give back what an intent received, or list its refunds newest first."""

    refuses_unknown = True
    codes = {"amount": "invalid_amount"}
    bodies = {"POST": AgentRefund}
    answers = dict.fromkeys(("GET", "POST"), Data[RefundDocument])
    statuses = {"POST": 201}

    def get(self, request: Request, id: str) -> Response:
        refunds = refunds_of(self.access, self.payment(id))
        return Response(Data(data=[refund_document(refund) for refund in refunds]))

    def post(self, request: Request, id: str) -> Response:
        payment = self.payment(id)
        key = str(self.idempotency_key(request))
        try:
            order = self.read(request, AgentRefund)
        except Invalid as refusal:
            answer = answer_unread(self.access, payment, refusal, key)
        else:
            answer = refund_payment(self.access, payment, order, key, self.envelope(request))
        headers = None if answer.is_new else {"Idempotent-Replayed": "true"}
        refunds = [refund_document(refund, is_other=answer.is_other) for refund in answer.refunds]
        return Response(Data(data=refunds), status=201, headers=headers)
