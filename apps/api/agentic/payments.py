"""/agentic/payments: what this credential asked to be paid, called off and gave back."""

from django.db import models
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.services.payments import REFUND_FIELDS, create_payment, payment_intent, refund_payment
from apps.api.agentic.plumbing import AgentDoor
from apps.api.composed import payment_detail
from apps.api.plumbing import lists
from apps.api.plumbing.queries import Paged, PerPage
from apps.core.literal import wrapper_schema
from apps.payments.documents import parts
from apps.payments.documents.refund import refund_document
from apps.payments.models import Payment, Refund
from apps.payments.selectors import payments_seen_by
from apps.payments.services.cancel import cancel_payment
from apps.payments.whole import whole_of


class AgentPaymentDoor(AgentDoor):
    """A view of the credential's own intents."""

    def own(self) -> "models.QuerySet[Payment]":
        return payments_seen_by(self.access).filter(agent_credential_id=self.access.credential_id)

    def payment(self, id: str) -> Payment:
        return self.find(self.own(), id)


class PaymentFilters(Paged, frozen=True, kw_only=True):
    reference: str | None = None
    per_page: PerPage = 10


class AgentPayments(AgentPaymentDoor):
    """Create a payment intent, or list the credential's own newest first."""

    query = PaymentFilters
    bodies = {"POST": wrapper_schema("payment_intent", payment_intent("test"))}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        key = self.idempotency_key(request)
        payment, is_new = create_payment(self.access, self.body(request), key, self.envelope(request))
        return Response(parts.created(payment), status=201, headers=None if is_new else {"Idempotent-Replayed": "true"})

    def get(self, request: Request) -> Response:
        asked = PaymentFilters.read(request.query_params)
        rows, reference = self.own(), asked.reference
        if reference:
            rows = rows.filter(reference=reference.upper()) if reference.isprintable() else rows.none()
        return Response(lists.page(asked, rows, parts.row))


class AgentPaymentById(AgentPaymentDoor):
    """Everything there is to know about an intent."""

    def get(self, request: Request, id: str) -> Response:
        return Response(payment_detail(whole_of(self.payment(id))))


class AgentPaymentCancel(AgentPaymentDoor):
    """Call off an intent that nothing was paid on."""

    bodies = {"POST": None}

    def post(self, request: Request, id: str) -> Response:
        return Response(payment_detail(whole_of(cancel_payment(self.payment(id)))))


class AgentRefunds(AgentPaymentDoor):
    """Give back what an intent received, or list its refunds newest first."""

    bodies = {"POST": REFUND_FIELDS.schema()}
    statuses = {"POST": 201}

    def get(self, request: Request, id: str) -> Response:
        rows = Refund.objects.seen_by(self.access).filter(payment=self.payment(id)).select_related("asset__chain")
        return Response({"data": [refund_document(one) for one in rows.order_by("-created_at", "-part")]})

    def post(self, request: Request, id: str) -> Response:
        payment = self.payment(id)
        key = self.idempotency_key(request)
        asked = refund_payment(self.access, payment, self.body(request), str(key), self.envelope(request))
        headers = None if asked.is_new else {"Idempotent-Replayed": "true"}
        told = [refund_document(one, is_other=asked.is_other) for one in asked.refunds]
        return Response({"data": told}, status=201, headers=headers)
