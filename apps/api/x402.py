"""/x402: the service as the facilitator of its own stores. Bodies of verify and settle, and all answers, are as x402 v2 names them."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents import documents
from apps.agents.services.x402_offers import OFFER, is_signable, make_offer
from apps.agents.services.x402_settle import settle
from apps.agents.services.x402_verify import Refused, verify
from apps.api.plumbing.views import Door
from apps.assets.selectors import accepted_assets
from apps.chain.selectors import hot_addresses, is_watched
from apps.core.errors import Coded
from apps.core.literal import Schema

_OBJECT: Schema = {"type": "object", "additionalProperties": True}
SIGNED: Schema = {
    "type": "object",
    "properties": {"x402Version": {"type": "integer", "enum": [2]}, "paymentPayload": _OBJECT, "paymentRequirements": _OBJECT},
    "required": ["paymentPayload", "paymentRequirements"],
}


class Requirements(Door):
    """Make a payment intent that a signature pays, and tell what must be signed."""

    shape = Coded
    bodies = {"POST": OFFER.schema()}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        offer, is_new = make_offer(self.access, self.body(request), self.idempotency_key(request))
        headers = None if is_new else {"Idempotent-Replayed": "true"}
        return Response(documents.requirements_document(offer), status=201, headers=headers)


class Supported(Door):
    """The networks on which the store's tokens can be paid by signature."""

    def get(self, request: Request) -> Response:
        assets = [one for one in accepted_assets(self.access.store_id, self.access.mode) if is_signable(one) and is_watched(one.chain_id)]
        return Response(documents.supported_document(assets, hot_addresses({one.chain_id for one in assets})))


class Verify(Door):
    """Whether a signed payment could be carried out now."""

    shape = Coded
    bodies = {"POST": SIGNED}

    def post(self, request: Request) -> Response:
        try:
            checked = verify(self.access, self.body(request))
        except Refused as refusal:
            return Response(documents.verified_document(refusal.payer, refusal.reason, refusal.text))
        return Response(documents.verified_document(checked.authorization.payer))


class Settle(Door):
    """Carry a signed payment out, and wait for a block. What isn't known in time is told as such."""

    shape = Coded
    bodies = {"POST": SIGNED}

    def post(self, request: Request) -> Response:
        body = self.body(request)
        told = settle(self.access, body)
        return Response(documents.settled_document(_network(body), told.payer, told.signed, told.reason, told.text))


def _network(body: dict[str, Any]) -> str:
    asked = body.get("paymentRequirements")
    network = asked.get("network") if isinstance(asked, dict) else None
    return network if isinstance(network, str) else ""
