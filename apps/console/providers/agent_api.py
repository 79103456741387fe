"""The agent API over HTTP, for the tools of a language model: one credential, every answer as the JSON that the service gave."""

import json
from dataclasses import dataclass
from typing import Any

from apps.core.http import requests

TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True)
class AgentApi:
    """`base_url` is the service's public address; `credential` an agent credential."""

    base_url: str
    credential: str

    def ask(
        self, method: str, path: str, body: dict[str, Any] | None = None, query: dict[str, str] | None = None, key: str | None = None
    ) -> dict[str, Any]:
        """`{status, body}`; status 0 when the service could not be reached, so that the model can tell its user."""
        headers = {"Authorization": f"Bearer {self.credential}", "Accept": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        try:
            with requests.Session() as session:
                session.trust_env = False
                answer = session.request(
                    method,
                    f"{self.base_url}/api/v2/agentic/{path}",
                    params=query,
                    json=body,
                    headers=headers,
                    timeout=TIMEOUT_SECONDS,
                    allow_redirects=False,
                )
            return {"status": answer.status_code, "body": json.loads(answer.content)}
        except (requests.RequestException, ValueError) as error:
            return {"status": 0, "body": {"error": {"message": type(error).__name__, "code": "service_unreachable"}}}
