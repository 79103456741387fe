"""/agentic/account: which store, which mode, and what this credential may do."""

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.documents import context_document
from apps.agents.services.authorize import agent_of
from apps.agents.services.tokens import tokens_document
from apps.api.agentic.plumbing import AgentDoor


class Account(AgentDoor):
    """The agent's own context."""

    def get(self, request: Request) -> Response:
        access = self.access
        accepted = len(tokens_document(access)["accepted"])
        per_minute, _ = settings.LIMITS["agentic"][access.mode]
        return Response(context_document(access, agent_of(access), accepted, per_minute))
