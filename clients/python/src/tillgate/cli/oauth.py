"""Signing in by OAuth: a code with PKCE, which comes back to this computer (RFC 8252)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx

from ..calls import refusal_of
from ..errors import AuthenticationError, ConnectionFailed
from .profiles import Profile

CALLBACK = "/callback"
WAIT_SECONDS = 300
DONE = b"<!doctype html><title>Tillgate</title><p>You can close this page."


def sign_in(
    url: str, client_id: str, scopes: str, *, is_live: bool, show: Callable[[str], object]
) -> Profile:
    """`show` gets the address that a person opens. Raises AuthenticationError."""
    server = _told(_ask("GET", f"{url}/.well-known/oauth-authorization-server"))
    verifier = secrets.token_urlsafe(48)
    state = secrets.token_urlsafe(24)
    with _Callback(("127.0.0.1", 0), _Handler) as callback:
        callback.state = state
        back = f"http://127.0.0.1:{callback.server_address[1]}{CALLBACK}"
        asked = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": back,
            "scope": scopes,
            "state": state,
            "code_challenge": _challenge(verifier),
            "code_challenge_method": "S256",
            "livemode": "true" if is_live else "false",
        }
        show(f"{server['authorization_endpoint']}?{urlencode(asked)}")
        given = callback.wait()
    _check(given, server["issuer"])
    exchange = {"code": given["code"], "redirect_uri": back, "code_verifier": verifier}
    form = {"grant_type": "authorization_code", "client_id": client_id, **exchange}
    told = _told(_ask("POST", server["token_endpoint"], form))
    return _filled(Profile(url, client_id=client_id), told)


def refresh(profile: Profile) -> Profile:
    form = {
        "grant_type": "refresh_token",
        "refresh_token": str(profile.refresh_token),
        "client_id": str(profile.client_id),
    }
    return _filled(profile, _told(_ask("POST", f"{profile.url}/api/v2/oauth/token", form)))


def revoke(profile: Profile) -> None:
    form = {"token": str(profile.refresh_token or profile.api_key), "client_id": profile.client_id}
    _ask("POST", f"{profile.url}/api/v2/oauth/revoke", form)


def _ask(method: str, address: str, form: dict[str, Any] | None = None) -> httpx.Response:
    try:
        return httpx.request(method, address, data=form, timeout=30)
    except httpx.TransportError as error:
        raise ConnectionFailed(f"No answer: {error}") from error


def _filled(profile: Profile, told: dict[str, Any]) -> Profile:
    return replace(
        profile,
        api_key=told["access_token"],
        refresh_token=told.get("refresh_token"),
        expires_at=time.time() + told["expires_in"],
        is_live=bool(told["livemode"]),
    )


def _told(response: httpx.Response) -> dict[str, Any]:
    if not response.is_success:
        raise refusal_of(response)
    told: dict[str, Any] = response.json()
    return told


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _check(given: dict[str, str], issuer: str) -> None:
    """The answer is from the server that was asked (RFC 9207)."""
    if given.get("iss") != issuer:
        raise AuthenticationError("Another server answered the sign-in")
    if "code" not in given:
        raise AuthenticationError(given.get("error_description") or "The sign-in was refused")


class _Callback(HTTPServer):
    """Waits for the answer to this sign-in; other pages of the browser can call it as well."""

    state = ""
    given: dict[str, str] | None = None

    def wait(self) -> dict[str, str]:
        self.timeout = 1
        ends = time.monotonic() + WAIT_SECONDS
        while self.given is None:
            if time.monotonic() > ends:
                raise AuthenticationError("Nobody signed in within five minutes")
            self.handle_request()
        return self.given


class _Handler(BaseHTTPRequestHandler):
    timeout = 10  # a connection that says nothing isn't waited for
    server: _Callback

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        given = dict(parse_qsl(parts.query))
        sent = given.get("state", "").encode()
        is_ours = parts.path == CALLBACK and hmac.compare_digest(sent, self.server.state.encode())
        if is_ours:
            self.server.given = given
        self.send_response(200 if is_ours else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(DONE if is_ours else b"")

    def log_message(self, *arguments: Any) -> None:
        """The code stands in the address: nothing of it is printed."""
