"""An app as its own server would use it, and what it is answered."""

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.test import Client

from tests.cast import Api, Cast
from tests.dashboard.browse import Browser, next_code

VERIFIER = "v" * 64
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
)
BACK = "https://app.example/callback"
SCOPES = ["payments:read", "payments:write", "profile", "agents:write", "offline_access"]


class App:
    """An app that alice registered, as its own server would use it."""

    def __init__(
        self, cast: Cast, *, confidential: bool = True, base: str = "/api/v2/oauth"
    ) -> None:
        self.alice = Browser(cast.alice)
        self.has_codes = False  # whether who decides has two-factor authentication
        self.store = cast.bakery.store
        self.base = base
        body = {
            "name": "Books",
            "redirect_uris": [BACK],
            "scopes": SCOPES,
            "confidential": confidential,
        }
        made = self.alice.client.post(
            "/api/v2/merchants/oauth_apps",
            {"oauth_application": body},
            content_type="application/json",
        )
        assert made.status_code == 201, made.content
        self.id = made.json()["id"]
        self.client_id = made.json()["client_id"]
        self.secret = made.json()["client_secret"]

    def query(self, **changed: str | None) -> dict[str, str]:
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": BACK,
            "scope": "payments:read payments:write offline_access",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "x y&z",
            **changed,
        }
        return {name: value for name, value in asked.items() if value is not None}

    def decide(self, decision: str = "allow", **changed: str | None) -> Any:
        fields = {**self.query(**changed), "decision": decision}
        fields.setdefault("store_id", str(self.store.pk))
        headers = {}
        if self.has_codes:
            assert self.alice.user is not None
            headers["X-OTP-Code"] = next_code(self.alice.user)
        return self.alice.client.post(
            f"{self.base}/authorize", fields, content_type="application/json", headers=headers
        )

    def code(self, **changed: str | None) -> str:
        answer = self.decide("allow", **changed)
        assert answer.status_code == 200, answer.content
        address: str = answer.json()["redirect_to"]
        query = dict(parse_qsl(urlsplit(address).query))
        assert address.startswith(f"{BACK}?") and query["state"] == "x y&z"
        return query["code"]

    def post(self, name: str, **fields: str | None) -> Any:
        sent = {key: value for key, value in fields.items() if value is not None}
        return Client().post(
            f"{self.base}/{name}", urlencode(sent), content_type="application/x-www-form-urlencoded"
        )

    def exchange(self, code: str, **changed: str | None) -> Any:
        fields = {
            "code": code,
            "redirect_uri": BACK,
            "code_verifier": VERIFIER,
            "client_id": self.client_id,
            "client_secret": self.secret,
        }
        return self.post("token", **{"grant_type": "authorization_code", **fields, **changed})

    def refresh(self, token: str, **changed: str | None) -> Any:
        fields = {"refresh_token": token, "client_id": self.client_id, "client_secret": self.secret}
        return self.post("token", **{"grant_type": "refresh_token", **fields, **changed})

    def tokens(self, **changed: str | None) -> dict[str, Any]:
        answer = self.exchange(self.code(**changed))
        assert answer.status_code == 200, answer.content
        body: dict[str, Any] = answer.json()
        return body


def refused(answer: Any, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["error"]) == (status, code), answer.content
    assert (
        set(answer.json()) == {"error", "error_description"} and answer.json()["error_description"]
    )


def works(token: str) -> bool:
    answer = Api(token).get("/payments")
    assert answer.status_code == 200 or answer.json()["error"]["code"] == "invalid_token"
    return bool(answer.status_code == 200)
