"""/agentic/account: which store, which mode, and what this credential may do."""

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from apps.agents.documents.agents import AgentContextDocument, context_document
from apps.agents.selectors import tokens_of
from apps.agents.services.authorize import agent_of
from apps.api.agentic.plumbing import AgentView


class AgentAccount(AgentView):
    """The agent's own context."""

    answers = {"GET": AgentContextDocument}

    def get(self, request: Request) -> Response:
        access = self.access
        accepted, _ = tokens_of(access)
        per_minute, _ = settings.LIMITS["agentic"][access.mode]
        return Response(context_document(access, agent_of(access), len(accepted), per_minute))
