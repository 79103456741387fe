"""Decisions of a merchant about a payment: what becomes of less, late or other coins, more time,
and its end before anything has come."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api import composites
from apps.api.payments import PaymentView
from apps.api.plumbing.refusals import ErrorDocument
from apps.payments.requests import AcceptTransactionRequest, ExtensionRequest
from apps.payments.services.cancel import cancel_for_merchant
from apps.payments.services.extend import extend_payment
from apps.payments.services.shortfall import accept_shortfall
from apps.payments.services.undecided import accept_transaction
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


class AcceptTransaction(PaymentView):
    """Accept what came late or in another coin. Toward an open payment it counts at the rate locked
    for its coin. Repeating it changes nothing."""

    shape = ErrorDocument
    asks_for_code = is_act = True
    bodies = {"POST": AcceptTransactionRequest}
    answers = {"POST": composites.PaymentIntentDetail}

    def post(self, request: Request, id: str) -> Response:
        payment = self.payment(id)
        body = self.read(request, AcceptTransactionRequest)
        payment = accept_transaction(payment, body.tx_hash, by=self.access)
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


class Cancellation(PaymentView):
    """Call off a payment that nothing has come for. Its addresses are looked at first; it can't be
    paid anymore."""

    shape = ErrorDocument
    bodies = {"POST": None}
    answers = {"POST": composites.PaymentIntentDetail}

    def post(self, request: Request, id: str) -> Response:
        payment = cancel_for_merchant(self.payment(id))
        return Response(composites.payment_detail(snapshot_of(payment)))
