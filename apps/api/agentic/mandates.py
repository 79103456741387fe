"""/agentic/mandates and /agentic/x402/settlements: envelopes, and the draws on them."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.documents import mandate_document, settlement_document
from apps.agents.models import Mandate, Settlement
from apps.agents.services.mandates import EXPIRES_IN, LIST_MAX, create_mandate, status_at
from apps.agents.services.settle import Requirements, create_settlement
from apps.api.agentic.plumbing import AgentDoor
from apps.api.plumbing import lists
from apps.api.plumbing.queries import Paged
from apps.core.literal import AtomicAmount, Object, Text

MANDATE = Object(
    {
        "asset_id": Text(20, required=True),
        "total_cap_atomic": AtomicAmount(required=True),
        "mandate_ref": Text(255, required=True),
        "per_call_cap_atomic": AtomicAmount(),
        "scope": Text(255),
        "expires_in_seconds": EXPIRES_IN,
    }
)
SETTLEMENT = Object(
    {
        "asset_id": Text(20, required=True),
        "amount_atomic": AtomicAmount(required=True),
        "mandate_ref": Text(255, required=True),
        "nonce": Text(255),
        "pay_to": Text(255),
        "payer": Text(255),
        "requirements": Requirements(),
    }
)


class MandateDoor(AgentDoor):
    """A view of the credential's mandates, as they stand at this moment."""

    def own(self) -> Any:
        return Mandate.objects.seen_by(self.access).filter(credential_id=self.access.credential_id).order_by("-created_at", "-id")

    def told(self, mandate: Mandate) -> dict[str, Any]:
        return mandate_document(mandate, status_at(mandate, self.access.now()))


class Mandates(MandateDoor):
    """Ask for an envelope, or list the most recent ones."""

    bodies = {"POST": MANDATE.schema()}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        mandate, is_new = create_mandate(self.access, self.body(request), self.envelope(request))
        return Response(self.told(mandate), status=201, headers=None if is_new else {"Idempotent-Replayed": "true"})

    def get(self, request: Request) -> Response:
        return Response({"data": [self.told(one) for one in self.own()[:LIST_MAX]]})


class MandateById(MandateDoor):
    """One envelope."""

    def get(self, request: Request, id: str) -> Response:
        return Response(self.told(self.find(self.own(), id)))


class SettlementDoor(AgentDoor):
    """A view of the credential's draws."""

    def own(self) -> Any:
        rows = Settlement.objects.seen_by(self.access).filter(credential_id=self.access.credential_id)
        return rows.select_related("mandate").order_by("-created_at", "-id")


class Settlements(SettlementDoor):
    """Draw on a mandate, or list the draws newest first."""

    query = Paged
    bodies = {"POST": SETTLEMENT.schema()}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        key = self.idempotency_key(request)
        settlement, is_new = create_settlement(self.access, self.body(request), str(key))
        return Response(settlement_document(settlement), status=201, headers=None if is_new else {"Idempotent-Replayed": "true"})

    def get(self, request: Request) -> Response:
        return Response(lists.paginated(Paged.read(request.query_params), self.own(), settlement_document))


class SettlementById(SettlementDoor):
    """One draw."""

    def get(self, request: Request, id: str) -> Response:
        return Response(settlement_document(self.find(self.own(), id)))
