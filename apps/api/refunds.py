"""/payments/{id}/refunds: ask for a refund, or list a payment's."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.payments import PaymentView
from apps.core.messages.fields import Invalid
from apps.payments.documents.refund import RefundDocument, refund_document
from apps.payments.requests import RefundRequest
from apps.payments.selectors import refunds_of
from apps.payments.services.refund import answer_unread, request_refund


class Refunds(PaymentView):
    """Refund a payment (while one is under way, and on a replay, the answer is that one), or list
    its refunds newest first."""

    refuses_unknown = asks_for_code = is_act = True
    wrapper = "refund"
    wrapper_is_optional = True
    bodies = {"POST": RefundRequest}
    answers = dict.fromkeys(("GET", "POST"), list[RefundDocument])
    statuses = {"POST": 201}

    def get(self, request: Request, id: str) -> Response:
        refunds = refunds_of(self.access, self.payment(id))
        return Response([refund_document(refund) for refund in refunds])

    def post(self, request: Request, id: str) -> Response:
        payment = self.payment(id)
        key = str(self.idempotency_key(request))
        try:
            order = self.read(request, RefundRequest)
        except Invalid as refusal:
            answer = answer_unread(self.access, payment, refusal, key)
        else:
            answer = request_refund(self.access, payment, order, key)
        headers = None if answer.is_new else {"Idempotent-Replayed": "true"}
        documents = [refund_document(refund, is_other=answer.is_other) for refund in answer.refunds]
        return Response(documents, status=201, headers=headers)
