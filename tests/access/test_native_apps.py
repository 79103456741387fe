"""Apps on the computer of their user (RFC 8252): loopback addresses on any port, and clients
without a secret."""

import base64
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.test import Client

from tests.cast import Cast
from tests.contract.oauth.apps import VERIFIER, App

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def app(cast: Cast) -> App:
    return App(cast, confidential=False)


def register(app: App, *addresses: str) -> Any:
    path = f"/api/v2/merchants/oauth_apps/{app.id}"
    sent = {"oauth_application": {"redirect_uris": addresses}}
    return app.alice.client.patch(path, sent, content_type="application/json")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
@pytest.mark.parametrize("registered", ["", ":8123"])
def test_a_loopback_address_may_be_on_any_port(app: App, host: str, registered: str) -> None:
    assert register(app, f"http://{host}{registered}/callback").status_code == 200
    back = f"http://{host}:49152/callback"
    answer = app.decide(redirect_uri=back)
    assert answer.status_code == 200, answer.content
    where = answer.json()["redirect_to"]
    assert where.startswith(f"{back}?")
    code = dict(parse_qsl(urlsplit(where).query))["code"]
    assert app.exchange(code, redirect_uri=f"http://{host}:49153/callback").status_code == 400
    again = dict(parse_qsl(urlsplit(app.decide(redirect_uri=back).json()["redirect_to"]).query))
    assert app.exchange(again["code"], redirect_uri=back).status_code == 200


VARIED: list[tuple[str, str]] = [
    ("http://localhost:3000/callback", "http://localhost:3001/callback"),
    ("http://127.0.0.1/callback", "http://127.0.0.1:49152/other"),
    ("http://127.0.0.1/callback", "http://127.0.0.1:49152/callback?next=evil"),
    ("http://127.0.0.1/callback", "http://[::1]:49152/callback"),
    ("http://127.0.0.1/callback", "http://127.0.0.2:49152/callback"),
    ("http://127.0.0.1/callback", "https://127.0.0.1:49152/callback"),
    ("http://127.0.0.1/callback", "http://127.0.0.1:49152@evil.example/callback"),
    ("http://127.0.0.1/callback", "http://127.0.0.1.evil.example:49152/callback"),
    ("https://app.example/callback", "https://app.example:8443/callback"),
]


def test_nothing_else_varies(app: App) -> None:
    for registered, asked in VARIED:
        assert register(app, registered).status_code == 200, asked
        assert app.decide(redirect_uri=asked).status_code == 400, asked


def test_other_plain_addresses_are_refused_with_what_is_allowed(app: App) -> None:
    for address in ["http://127.0.0.2/back", "http://192.168.0.1/back", "http://app.example/back"]:
        answer = register(app, address)
        told = "redirect_uris[0] must be an https URL, or http on localhost, 127.0.0.1 or [::1]"
        assert (answer.status_code, answer.json()) == (422, {"error": told}), address


@pytest.mark.parametrize(
    ("host", "source"), [("127.0.0.1", "http://127.0.0.1:49152"), ("[::1]", "http:")]
)
def test_the_consent_page_lets_the_browser_go_back_there(app: App, host: str, source: str) -> None:
    register(app, f"http://{host}/callback")
    asked = urlencode(app.query(redirect_uri=f"http://{host}:49152/callback"))
    page = app.alice.client.get(f"/oauth/authorize?{asked}", headers={"Accept": "text/html"})
    policy = page.headers["Content-Security-Policy"]
    assert page.status_code == 200 and f"form-action 'self' {source};" in f"{policy};"


def with_basic(app: App, password: str, **fields: str) -> Any:
    proof = "Basic " + base64.b64encode(f"{app.client_id}:{password}".encode()).decode()
    return Client().post(
        f"{app.base}/token", urlencode(fields), content_type=FORM, headers={"Authorization": proof}
    )


def exchange(app: App, password: str, **changed: str) -> Any:
    fields = {"grant_type": "authorization_code", "code": app.code(), "code_verifier": VERIFIER}
    return with_basic(
        app, password, redirect_uri="https://app.example/callback", **{**fields, **changed}
    )


def test_a_public_app_may_name_itself_by_basic_with_an_empty_secret(app: App) -> None:
    first = exchange(app, "")
    assert first.status_code == 200, first.content
    token = first.json()["refresh_token"]
    assert with_basic(app, "", grant_type="refresh_token", refresh_token=token).status_code == 200


def test_an_empty_secret_proves_nothing_else(app: App, cast: Cast) -> None:
    refused = exchange(app, "guess")
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    assert exchange(app, "", code_verifier="w" * 64).json()["error"] == "invalid_grant"
    confidential = exchange(App(cast), "")
    assert (confidential.status_code, confidential.json()["error"]) == (401, "invalid_client")
