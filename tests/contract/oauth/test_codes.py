"""The code flow with PKCE in both modes: what is asked for, decided and exchanged."""

import base64
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import time_machine
from django.test import Client

from apps.access import credentials
from apps.access.models import Grant
from apps.core import clock
from tests.cast import Api, Cast
from tests.contract.oauth.apps import BACK, VERIFIER, App, refused, works
from tests.stage import empty_buckets


@pytest.mark.parametrize("base", ["/api/v2/oauth", "/oauth"])
@pytest.mark.parametrize("mode", ["live", "test"])
def test_a_code_becomes_a_token_of_the_mode_that_was_asked_for(
    cast: Cast, mode: str, base: str
) -> None:
    body = App(cast, base=base).tokens(livemode="true" if mode == "live" else None)
    assert body["access_token"].startswith("svco_") and credentials.is_well_formed(
        body["access_token"], "svco_"
    )
    assert credentials.is_well_formed(body["refresh_token"], "svcr_")
    told = {
        name: value for name, value in body.items() if name not in ("access_token", "refresh_token")
    }
    assert told == {
        "token_type": "Bearer",
        "expires_in": 3600,
        "scope": "payments:read payments:write offline_access",
        "store_id": str(cast.bakery.store.pk),
        "livemode": mode == "live",
        "refresh_token_expires_in": 7776000,
    }
    fields = {"payment_intent": {"amount": "1.00", "currency": "EUR"}}
    made = Api(body["access_token"]).post("/payments", fields, key="one").json()
    assert made["livemode"] is (mode == "live")
    key = cast.bakery.live if mode == "live" else cast.bakery.test
    assert key.post("/payments", fields, key="one").json()["id"] == made["id"]


ASKED_WRONG: list[tuple[dict[str, str | None], str]] = [
    ({"code_challenge": None}, "invalid_request"),
    ({"code_challenge": "short"}, "invalid_request"),
    ({"code_challenge_method": "plain"}, "invalid_request"),
    ({"code_challenge_method": None}, "invalid_request"),
    ({"response_type": None}, "invalid_request"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"scope": "refunds:write"}, "invalid_scope"),
    ({"scope": "nothing"}, "invalid_scope"),
    ({"livemode": "perhaps"}, "invalid_request"),
    ({"client_id": "nobody"}, "invalid_request"),
    ({"redirect_uri": f"{BACK}/other"}, "invalid_request"),
    ({"redirect_uri": "https://evil.example/"}, "invalid_request"),
]


def test_an_authorization_request_that_is_not_right_is_refused(app: App) -> None:
    for changed, code in ASKED_WRONG:
        empty_buckets()
        page = f"{app.base}/authorize?{urlencode(app.query(**changed))}"
        answer = app.alice.client.get(page, headers={"Accept": "application/json"})
        assert answer.status_code == 400 and code in (
            answer.json()["error"],
            "unsupported_response_type",
        ), answer.content
        consent = app.alice.client.get(
            f"/oauth/authorize?{urlencode(app.query(**changed))}", headers={"Accept": "text/html"}
        )
        if "redirect_uri" in changed or "client_id" in changed:
            assert consent.status_code == 400, changed
        else:
            assert (
                consent.headers["Location"].startswith(f"{BACK}?")
                and "state=x" in consent.headers["Location"]
            ), changed


def test_a_mode_that_is_named_twice_is_refused(app: App) -> None:
    page = f"{app.base}/authorize?{urlencode(app.query())}&livemode=true&livemode=false"
    refused(
        app.alice.client.get(page, headers={"Accept": "application/json"}), 400, "invalid_request"
    )


def test_authorizing_takes_a_session_and_a_store_of_ones_own(app: App, cast: Cast) -> None:
    page = f"{app.base}/authorize?{urlencode(app.query())}"
    refused(Client().get(page, headers={"Accept": "application/json"}), 401, "login_required")
    answer = app.alice.client.get(page, headers={"Accept": "application/json"}).json()
    assert answer["application"]["name"] == "Books" and answer["scopes"] == [
        "payments:read",
        "payments:write",
        "offline_access",
    ]
    assert [store["id"] for store in answer["stores"]] == [str(cast.bakery.store.pk)]
    refused(app.decide(store_id=str(cast.strangers.store.pk)), 400, "invalid_request")
    refused(app.decide("perhaps"), 400, "invalid_request")


@pytest.mark.parametrize(
    ("decision", "changed"), [("allow", {}), ("deny", {}), ("allow", {"scope": "everything"})]
)
def test_every_answer_to_an_app_says_which_server_gives_it(
    app: App, decision: str, changed: dict[str, str]
) -> None:
    answer = app.decide(decision, **changed)
    if changed:
        page = app.alice.client.get(
            f"/oauth/authorize?{urlencode(app.query(**changed))}", headers={"Accept": "text/html"}
        )
        address = page.headers["Location"]
    else:
        address = answer.json()["redirect_to"]
    found = Client().get("/.well-known/oauth-authorization-server").json()
    assert parse_qs(urlsplit(address).query)["iss"] == [found["issuer"]]
    assert found["authorization_response_iss_parameter_supported"] is True


def test_who_denies_sends_the_app_a_refusal(app: App) -> None:
    told = parse_qs(urlsplit(app.decide("deny").json()["redirect_to"]).query)
    assert (told["error"], told["state"]) == (
        ["access_denied"],
        ["x y&z"],
    ) and not Grant.objects.exists()


EXCHANGED_WRONG: list[tuple[dict[str, str | None], int, str]] = [
    ({"code_verifier": "w" * 64}, 400, "invalid_grant"),
    ({"code_verifier": None}, 400, "invalid_request"),
    ({"code": "other"}, 400, "invalid_grant"),
    ({"code": None}, 400, "invalid_request"),
    ({"redirect_uri": "https://app.example/other"}, 400, "invalid_request"),
    ({"client_secret": "svccs_wrong"}, 401, "invalid_client"),
    ({"client_secret": None}, 401, "invalid_client"),
    ({"client_id": "nobody"}, 401, "invalid_client"),
    ({"grant_type": "password"}, 400, "unsupported_grant_type"),
    ({"grant_type": "client_credentials"}, 400, "unsupported_grant_type"),
    ({"grant_type": None}, 400, "invalid_request"),
]


def test_an_exchange_that_is_not_right_is_refused(app: App) -> None:
    for changed, status, code in EXCHANGED_WRONG:
        empty_buckets()
        refused(app.exchange(**{"code": app.code(), **changed}), status, code)  # type: ignore[arg-type]


def test_a_code_lives_ten_minutes(app: App) -> None:
    early = app.code()
    late = app.code()
    with time_machine.travel(clock.real_now() + timedelta(seconds=599), tick=False):
        assert app.exchange(early).status_code == 200
    with time_machine.travel(clock.real_now() + timedelta(seconds=601), tick=False):
        refused(app.exchange(late), 400, "invalid_grant")


def test_a_code_that_comes_twice_revokes_what_it_led_to(app: App) -> None:
    code = app.code()
    body = app.exchange(code).json()
    refused(app.exchange(code), 400, "invalid_grant")
    assert not works(body["access_token"])
    refused(app.refresh(body["refresh_token"]), 400, "invalid_grant")


def test_a_client_proves_itself_with_basic_or_in_json(app: App) -> None:
    fields = {"grant_type": "authorization_code", "redirect_uri": BACK, "code_verifier": VERIFIER}
    basic = "Basic " + base64.b64encode(f"{app.client_id}:{app.secret}".encode()).decode()
    form = urlencode({**fields, "code": app.code()})
    kind = "application/x-www-form-urlencoded"
    assert (
        Client()
        .post(f"{app.base}/token", form, content_type=kind, headers={"Authorization": basic})
        .status_code
        == 200
    )
    known = {**fields, "code": app.code(), "client_id": app.client_id, "client_secret": app.secret}
    assert Api().post("/oauth/token", known).status_code == 200
    refused(Api().post("/oauth/token", {**known, "code": 5}), 400, "invalid_request")
    refused(
        Client().post(f"{app.base}/token", "<x/>", content_type="text/xml"), 415, "invalid_request"
    )


def test_a_public_app_has_no_secret_and_needs_the_verifier(cast: Cast) -> None:
    app = App(cast, confidential=False)
    assert app.secret is None
    refused(app.exchange(app.code(), code_verifier="w" * 64), 400, "invalid_grant")
    assert works(app.tokens()["access_token"])


def test_the_discovery_document_names_the_endpoints() -> None:
    found = Client().get("/.well-known/oauth-authorization-server").json()
    assert found["code_challenge_methods_supported"] == ["S256"] and found[
        "token_endpoint"
    ].endswith("/api/v2/oauth/token")


@pytest.mark.parametrize(
    ("method", "path", "burst"),
    [("post", "token", 60), ("post", "revoke", 60), ("get", "authorize", 20)],
)
def test_each_address_has_its_budget(db: None, method: str, path: str, burst: int) -> None:
    for _ in range(6 * burst):
        answer = getattr(Client(), method)(f"/oauth/{path}", headers={"Accept": "application/json"})
        assert answer.headers["X-RateLimit-Limit"] == str(burst)
        if answer.status_code == 429:
            break
    refused(answer, 429, "temporarily_unavailable")
    assert int(answer.headers["Retry-After"]) >= 1


def test_a_browser_meets_the_consent_page(app: App, cast: Cast) -> None:
    query = urlencode(app.query(livemode="true"))
    sent = Client().get(f"/api/v2/oauth/authorize?{query}", headers={"Accept": "text/html"})
    assert sent.headers["Location"].endswith(f"/oauth/authorize?{query}")
    visitor = Client().get(f"/oauth/authorize?{query}", headers={"Accept": "text/html"})
    assert visitor.headers["Location"].startswith("/dashboard/sign-in?next=%2Foauth%2Fauthorize")
    page = app.alice.client.get(f"/oauth/authorize?{query}", headers={"Accept": "text/html"})
    words = " ".join(page.content.decode().split())
    for part in ("Books", "live mode", "payments:write", str(cast.bakery.store.pk)):
        assert part in words
    assert "form-action 'self' https://app.example" in page.headers["Content-Security-Policy"]
    done = app.alice.client.post(
        f"/oauth/authorize?{query}", {"store_id": str(cast.bakery.store.pk), "decision": "allow"}
    )
    assert done.status_code == 303
    code = parse_qs(urlsplit(done.headers["Location"]).query)["code"][0]
    assert app.exchange(code).json()["livemode"] is True


@pytest.mark.parametrize("path", ["/oauth/authorize", "/api/v2/oauth/authorize"])
@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded"])
def test_a_decision_without_the_sites_token_is_refused(app: App, path: str, kind: str) -> None:
    app.alice.client.handler.enforce_csrf_checks = True
    fields = {**app.query(), "decision": "allow", "store_id": str(app.store.pk)}
    sent = fields if kind == "application/json" else urlencode(fields)
    assert (
        app.alice.client.post(
            f"{path}?{urlencode(app.query())}", sent, content_type=kind
        ).status_code
        == 403
    )
    assert not Grant.objects.exists()
