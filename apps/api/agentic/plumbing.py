"""Base of the agent API's views: agents only, errors always with a code, and the envelope a request
may carry."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import ClassVar

from rest_framework.request import Request

from apps.access.access import Access
from apps.access.authorization.agents import agent_of_token
from apps.access.credentials import OAUTH_ACCESS_PREFIX
from apps.access.services import (
    FOR_MODELS,
    AgentCredentialRequired,
    InvalidAgentCredential,
    Unauthenticated,
)
from apps.agents.providers.base import Envelope
from apps.api.plumbing.refusals import ErrorDocument, ErrorShape
from apps.api.plumbing.views import ApiView
from apps.core.errors import Failure, NotFound
from apps.core.idempotency import KeyRefused
from apps.core.messages.fields import Invalid, check_storable, is_deeper
from apps.core.messages.invalid import UNKNOWN

HEADER_BYTES_MAX = 32_768
DEPTH_MAX = 32


class AgentView(ApiView):
    """A view of the agent API."""

    for_agents = True
    shape = ErrorDocument
    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {KeyRefused: ErrorDocument}
    missing: ClassVar[Failure] = NotFound(code="not_found")
    codes: ClassVar[
        Mapping[str | tuple[str, str], str]
    ] = {}  # of a broken rule: by field and rule, or by the field alone

    def access_of(self, request: Request, credential: str) -> Access:
        """A language model's host may present an app's token, for the app's agent."""
        is_token = credential.startswith(OAUTH_ACCESS_PREFIX)
        if is_token and request._request.META.get(FOR_MODELS) is True:
            return agent_of_token(credential)
        return super().access_of(request, credential)

    def _unauthenticated(self, refusal: Unauthenticated) -> Unauthenticated:
        """No credential, or none of an agent's form, gets the same answer here."""
        return refusal if isinstance(refusal, InvalidAgentCredential) else AgentCredentialRequired()

    def cost(self, request: Request) -> int:
        """Agents count their requests, whatever these ask for."""
        return 1

    def refusal(self, refusal: Invalid) -> Failure:
        if refusal.rule == UNKNOWN:
            return Failure(refusal.text, code=UNKNOWN)
        field = refusal.field.partition(".")[0]
        return Failure(
            refusal.text, code=self.codes.get((field, refusal.rule)) or self.codes.get(field)
        )

    @staticmethod
    def envelope(request: Request) -> Envelope | None:
        """The object in `X-Mandate`; one that can't be read counts as absent."""
        text = request.headers.get("X-Mandate", "")
        if not text or len(text) > HEADER_BYTES_MAX:
            return None
        try:
            raw = base64.b64decode(text, validate=True)
            if is_deeper(raw, DEPTH_MAX):
                return None
            fields = json.loads(raw)
            check_storable(fields)
        except (binascii.Error, ValueError, Invalid):
            return None
        return fields if isinstance(fields, dict) else None
