"""/agentic/payouts and /agentic/payout_limits: crypto to a raw address, within caps."""

from typing import Annotated

from django.db import models
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.documents.agents import PayoutLimitsDocument
from apps.agents.requests.payments import AgentPayout
from apps.agents.services.payouts import answer_unread, limits_of, send_payout
from apps.api.agentic.plumbing import AgentView
from apps.api.plumbing import lists
from apps.api.plumbing.queries import PagedQuery, Query, described
from apps.core.messages.documents import Paginated
from apps.core.messages.fields import Invalid
from apps.payouts.documents import PayoutDocument, payout_document
from apps.payouts.models import Payout
from apps.payouts.selectors import payouts_visible_to


class AgentPayoutView(AgentView):
    """A view of the credential's own payouts."""

    def own(self) -> "models.QuerySet[Payout]":
        return payouts_visible_to(self.access).filter(agent_credential_id=self.access.credential_id)


class AgentPayouts(AgentPayoutView):
    """Send a payout, or list the credential's own newest first."""

    refuses_unknown = True
    codes = {
        "amount_atomic": "invalid_amount",
        ("destination_address", "required"): "destination_required",
    }
    query = PagedQuery
    bodies = {"POST": AgentPayout}
    answers = {"GET": Paginated[PayoutDocument], "POST": PayoutDocument}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        key = str(self.idempotency_key(request))
        try:
            order = self.read(request, AgentPayout)
        except Invalid as refusal:
            asset_id = self.given(request, "asset_id")
            earlier = answer_unread(self.access, refusal, key, asset_id)
            return self._answer(earlier, is_new=False)
        payout, is_new = send_payout(self.access, order, key, self.envelope(request))
        return self._answer(payout, is_new=is_new)

    @staticmethod
    def _answer(payout: Payout, *, is_new: bool) -> Response:
        return Response(
            payout_document(payout),
            status=201,
            headers=None if is_new else {"Idempotent-Replayed": "true"},
        )

    def get(self, request: Request) -> Response:
        return Response(
            lists.paginated(PagedQuery.read(request.query_params), self.own(), payout_document)
        )


class AgentPayoutById(AgentPayoutView):
    """One payout."""

    answers = {"GET": PayoutDocument}

    def get(self, request: Request, id: str) -> Response:
        return Response(payout_document(self.find(self.own(), id)))


class LimitFilters(Query, frozen=True, kw_only=True):
    asset_id: Annotated[str, described("404 when unknown")] | None = None


class PayoutLimits(AgentView):
    """Caps and what is left of them today."""

    query = LimitFilters
    answers = {"GET": PayoutLimitsDocument}

    def get(self, request: Request) -> Response:
        at = self.access.now()
        limits = limits_of(self.access, at, LimitFilters.read(request.query_params).asset_id)
        return Response(
            PayoutLimitsDocument(
                limits=[limit.document() for limit in limits], utc_day=at.date().isoformat()
            )
        )
