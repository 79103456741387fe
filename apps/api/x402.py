"""/x402: the service as the facilitator of its own stores. Bodies of verify and settle, and all
answers, are as x402 v2 names them."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.documents import x402 as documents
from apps.agents.requests.x402 import OfferRequest, PriceRequest, SignedPaymentRequest
from apps.agents.services.x402_offers import make_offer, make_offers, minimum_atomic
from apps.agents.services.x402_settle import settle
from apps.agents.services.x402_tokens import offered_tokens
from apps.agents.services.x402_verify import X402Refused, verify
from apps.api.plumbing.refusals import ErrorDocument
from apps.api.plumbing.views import ApiView
from apps.chain.selectors import hot_addresses


class Requirements(ApiView):
    """Requirements of a price in one asset, to be signed. The payment is created by the
    signature."""

    shape = ErrorDocument
    bodies = {"POST": OfferRequest}
    answers = {"POST": documents.PaymentRequirementsDocument}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        key = self.idempotency_key(request)
        offer, is_new = make_offer(self.access, self.read(request, OfferRequest), key)
        headers = None if is_new else {"Idempotent-Replayed": "true"}
        return Response(documents.requirements_document(offer), status=201, headers=headers)


class Offers(ApiView):
    """The answer 402 to anyone who hasn't paid: one price in several assets. The payment is created
    by the signature."""

    shape = ErrorDocument
    bodies = {"POST": PriceRequest}
    answers = {"POST": documents.PaymentRequiredDocument}

    def post(self, request: Request) -> Response:
        offers = make_offers(self.access, self.read(request, PriceRequest))
        return Response(documents.payment_required_document(offers))


class Supported(ApiView):
    """The networks on which the store's tokens can be paid by signature."""

    answers = {"GET": documents.SupportedResponseDocument}

    def get(self, request: Request) -> Response:
        assets = offered_tokens(self.access)
        minimums = {asset.pk: minimum_atomic(asset) for asset in assets}
        signers = hot_addresses({asset.chain_id for asset in assets})
        return Response(documents.supported_document(assets, minimums, signers))


class Verify(ApiView):
    """Tell whether a signed payment could be carried out now."""

    shape = ErrorDocument
    body_is_of_others = True
    bodies = {"POST": SignedPaymentRequest.schema()}
    answers = {"POST": documents.VerifyResponseDocument}

    def post(self, request: Request) -> Response:
        try:
            checked = verify(self.access, SignedPaymentRequest.read(self.body(request)))
        except X402Refused as refusal:
            return Response(
                documents.verified_document(refusal.payer, refusal.reason, refusal.text)
            )
        return Response(documents.verified_document(checked.authorization.payer))


class Settle(ApiView):
    """Carry a signed payment out, and wait for a block. What isn't known in time is reported as
    such."""

    shape = ErrorDocument
    body_is_of_others = True
    bodies = {"POST": SignedPaymentRequest.schema()}
    answers = {"POST": documents.SettleResponseDocument}

    def post(self, request: Request) -> Response:
        signed = SignedPaymentRequest.read(self.body(request))
        outcome = settle(self.access, signed)
        return Response(
            documents.settled_document(
                signed.network, outcome.payer, outcome.signed, outcome.reason, outcome.text
            )
        )
