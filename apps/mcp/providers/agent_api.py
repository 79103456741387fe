"""The agent API over HTTP, for the tools of a language model: one credential, every answer as the
JSON that the service gave."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import requests
from msgspec import DecodeError, Struct

from apps.agents.requests.payments import AgentPayment

TIMEOUT_SECONDS = 30.0
UNREACHABLE = "service_unreachable"


class PaymentBody(Struct, frozen=True):
    """A payment as the API takes it over HTTP."""

    payment_intent: AgentPayment


@dataclass(frozen=True)
class AgentAnswer:
    """`body` is any JSON; `status` is 0 when the service could not be reached, so that the model
    can tell its user."""

    status: int
    body: object


@dataclass(frozen=True)
class AgentApi:
    """`base_url` is the service's public address; `credential` an agent credential."""

    base_url: str
    credential: str

    def get(self, path: str, query: Mapping[str, str] | None = None) -> AgentAnswer:
        return self._ask("GET", path, query=query)

    def post(self, path: str, body: Struct | None = None, *, key: str | None = None) -> AgentAnswer:
        """With a key the same call is the same act, however often it is sent."""
        return self._ask("POST", path, body, key=key)

    def patch(self, path: str, body: Struct) -> AgentAnswer:
        return self._ask("PATCH", path, body)

    def _ask(
        self,
        method: str,
        path: str,
        body: Struct | None = None,
        *,
        query: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> AgentAnswer:
        headers = {"Authorization": f"Bearer {self.credential}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        try:
            with requests.Session() as session:
                session.trust_env = False
                answer = session.request(
                    method,
                    f"{self.base_url}/api/v2/agentic/{path}",
                    params=query,
                    data=None if body is None else msgspec.json.encode(body),
                    headers=headers,
                    timeout=TIMEOUT_SECONDS,
                    allow_redirects=False,
                )
            return AgentAnswer(answer.status_code, msgspec.json.decode(answer.content))
        except (requests.RequestException, DecodeError, ValueError) as error:
            return AgentAnswer(0, {"error": {"message": type(error).__name__, "code": UNREACHABLE}})
