"""/agentic/payouts and /agentic/payout_limits: crypto to a raw address, within caps."""

from typing import Annotated, Any

from django.db import models
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.services.payouts import Limits, limits_of, send_payout
from apps.api.agentic.plumbing import AgentDoor
from apps.api.plumbing import lists
from apps.api.plumbing.queries import Paged, Query, described
from apps.core.literal import AtomicAmount, Object, Text
from apps.payouts.documents import payout_document
from apps.payouts.models import Payout
from apps.payouts.selectors import payouts_seen_by

BODY = Object(
    {"asset_id": Text(20, required=True), "amount_atomic": AtomicAmount(required=True), "destination_address": Text(255, required=True)}
)


class AgentPayoutDoor(AgentDoor):
    """A view of the credential's own payouts."""

    def own(self) -> "models.QuerySet[Payout]":
        return payouts_seen_by(self.access).filter(agent_credential_id=self.access.credential_id)


class AgentPayouts(AgentPayoutDoor):
    """Send a payout, or list the credential's own newest first."""

    query = Paged
    bodies = {"POST": BODY.schema()}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        key = self.idempotency_key(request)
        payout, is_new = send_payout(self.access, self.body(request), str(key), self.envelope(request))
        return Response(payout_document(payout), status=201, headers=None if is_new else {"Idempotent-Replayed": "true"})

    def get(self, request: Request) -> Response:
        return Response(lists.paginated(Paged.read(request.query_params), self.own(), payout_document))


class AgentPayoutById(AgentPayoutDoor):
    """One payout."""

    def get(self, request: Request, id: str) -> Response:
        return Response(payout_document(self.find(self.own(), id)))


class LimitFilters(Query, frozen=True, kw_only=True):
    asset_id: Annotated[str, described("404 when unknown")] | None = None


class PayoutLimits(AgentDoor):
    """Caps and what is left of them today."""

    query = LimitFilters

    def get(self, request: Request) -> Response:
        at = self.access.now()
        rows = limits_of(self.access, at, LimitFilters.read(request.query_params).asset_id)
        return Response({"limits": [_told(one) for one in rows], "utc_day": at.date().isoformat()})


def _told(limits: Limits) -> dict[str, Any]:
    asset = limits.asset
    return {
        "asset_id": asset.pk,
        "coin_symbol": asset.coin_symbol,
        "chain_symbol": asset.chain.symbol,
        "atomic_decimals": asset.atomic_decimals,
        "per_tx_cap_atomic": _text(limits.per_tx_atomic),
        "daily_cap_atomic": _text(limits.daily_atomic),
        "daily_spent_atomic": str(limits.spent_atomic),
        "daily_remaining_atomic": _text(limits.remaining_atomic),
        "controls_configured": limits.is_configured,
    }


def _text(amount: int | None) -> str | None:
    return None if amount is None else str(amount)
