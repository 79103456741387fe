"""Decisions of a merchant about a payment that less has come for than was due."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api import composites
from apps.api.payments import PaymentView
from apps.api.plumbing.refusals import ErrorDocument
from apps.payments.requests import ExtensionRequest
from apps.payments.services.extend import extend_payment
from apps.payments.services.shortfall import accept_shortfall
from apps.payments.snapshot import snapshot_of


class AcceptShortfall(PaymentView):
    """Accept what has arrived for less than the amount due. Repeating it changes nothing."""

    shape = ErrorDocument
    asks_for_code = True
    bodies = {"POST": None}
    answers = {"POST": composites.PaymentIntentDetail}

    def post(self, request: Request, id: str) -> Response:
        payment = accept_shortfall(self.payment(id), by=self.access)
        return Response(composites.payment_detail(snapshot_of(payment)))


class Extension(PaymentView):
    """Give an open payment that money has arrived for more time; its quote stays locked."""

    shape = ErrorDocument
    bodies = {"POST": ExtensionRequest}
    answers = {"POST": composites.PaymentIntentDetail}

    def post(self, request: Request, id: str) -> Response:
        payment = self.payment(id)
        body = self.read(request, ExtensionRequest)
        payment = extend_payment(payment, body.expires_in, by=self.access)
        return Response(composites.payment_detail(snapshot_of(payment)))
