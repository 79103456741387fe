"""/agentic/mandates and /agentic/x402/settlements: envelopes, and the draws on them."""

from collections.abc import Mapping

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.documents.agents import (
    MandateDocument,
    SettlementDocument,
    mandate_document,
    settlement_document,
)
from apps.agents.models import Mandate, Settlement
from apps.agents.requests.mandates import MandateBody, SettlementBody
from apps.agents.services import mandates, settle
from apps.agents.services.mandates import LIST_MAX, create_mandate, status_at
from apps.agents.services.settle import create_settlement
from apps.api.agentic.plumbing import AgentView
from apps.api.plumbing import lists
from apps.api.plumbing.queries import PagedQuery
from apps.core.messages.documents import Data, Paginated
from apps.core.messages.fields import Invalid

NO_REF: Mapping[str | tuple[str, str], str] = {("mandate_ref", "required"): "mandate_ref_required"}


class MandateView(AgentView):
    """A view of the credential's mandates, as they are at this moment."""

    def own(self) -> "QuerySet[Mandate]":
        rows: QuerySet[Mandate] = Mandate.objects.visible_to(self.access).filter(
            credential_id=self.access.credential_id
        )
        return rows.order_by("-created_at", "-id")

    def document(self, mandate: Mandate) -> MandateDocument:
        return mandate_document(mandate, status_at(mandate, self.access.now()))


class Mandates(MandateView):
    """Ask for an envelope, or list the most recent ones."""

    refuses_unknown = True
    codes = {**NO_REF, "total_cap_atomic": "invalid_cap", "per_call_cap_atomic": "invalid_cap"}
    bodies = {"POST": MandateBody}
    answers = {"GET": Data[MandateDocument], "POST": MandateDocument}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        try:
            order = self.read(request, MandateBody).request()
        except Invalid as refusal:
            body = self.body(request)
            earlier = mandates.answer_unread(
                self.access, refusal, ref=body.get("mandate_ref"), asset_id=body.get("asset_id")
            )
            return self._answer(earlier, is_new=False)
        mandate, is_new = create_mandate(self.access, order, self.envelope(request))
        return self._answer(mandate, is_new=is_new)

    def _answer(self, mandate: Mandate, *, is_new: bool) -> Response:
        return Response(
            self.document(mandate),
            status=201,
            headers=None if is_new else {"Idempotent-Replayed": "true"},
        )

    def get(self, request: Request) -> Response:
        return Response(Data(data=[self.document(mandate) for mandate in self.own()[:LIST_MAX]]))


class MandateById(MandateView):
    """One envelope."""

    answers = {"GET": MandateDocument}

    def get(self, request: Request, id: str) -> Response:
        return Response(self.document(self.find(self.own(), id)))


class SettlementView(AgentView):
    """A view of the credential's draws."""

    def own(self) -> "QuerySet[Settlement]":
        rows: QuerySet[Settlement] = Settlement.objects.visible_to(self.access).filter(
            credential_id=self.access.credential_id
        )
        return rows.select_related("mandate").order_by("-created_at", "-id")


class Settlements(SettlementView):
    """Draw on a mandate, or list the draws newest first."""

    refuses_unknown = True
    codes = {**NO_REF, "amount_atomic": "invalid_amount"}
    query = PagedQuery
    bodies = {"POST": SettlementBody}
    answers = {"GET": Paginated[SettlementDocument], "POST": SettlementDocument}
    statuses = {"POST": 201}

    def post(self, request: Request) -> Response:
        key = str(self.idempotency_key(request))
        try:
            order = self.read(request, SettlementBody).request()
        except Invalid as refusal:
            asset_id = self.given(request, "asset_id")
            return self._answer(
                settle.answer_unread(self.access, refusal, key, asset_id=asset_id), is_new=False
            )
        settlement, is_new = create_settlement(self.access, order, key)
        return self._answer(settlement, is_new=is_new)

    @staticmethod
    def _answer(settlement: Settlement, *, is_new: bool) -> Response:
        headers = None if is_new else {"Idempotent-Replayed": "true"}
        return Response(settlement_document(settlement), status=201, headers=headers)

    def get(self, request: Request) -> Response:
        return Response(
            lists.paginated(PagedQuery.read(request.query_params), self.own(), settlement_document)
        )


class SettlementById(SettlementView):
    """One draw."""

    answers = {"GET": SettlementDocument}

    def get(self, request: Request, id: str) -> Response:
        return Response(settlement_document(self.find(self.own(), id)))
