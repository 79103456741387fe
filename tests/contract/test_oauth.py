"""OAuth: the code flow with PKCE in both modes, lifetimes, rotation, revocation, refusals and the
apps themselves."""

import base64
import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest
import time_machine
from django.test import Client

from apps.access import credentials
from apps.access.models import AccessToken, Application, Grant, RefreshToken
from apps.core import clock
from tests.cast import Api, Cast
from tests.dashboard.browse import Browser

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
        return self.alice.client.post(
            f"{self.base}/authorize", fields, content_type="application/json"
        )

    def code(self, **changed: str | None) -> str:
        answer = self.decide(**changed)
        assert answer.status_code == 200, answer.content
        told = dict(parse_qsl(urlsplit(answer.json()["redirect_to"]).query))
        assert answer.json()["redirect_to"].startswith(f"{BACK}?") and told["state"] == "x y&z"
        return told["code"]

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


@pytest.fixture
def app(cast: Cast) -> App:
    return App(cast)


def refused(answer: Any, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["error"]) == (status, code), answer.content
    assert (
        set(answer.json()) == {"error", "error_description"} and answer.json()["error_description"]
    )


def works(token: str) -> bool:
    answer = Api(token).get("/payments")
    assert answer.status_code == 200 or answer.json()["error"]["code"] == "invalid_token"
    return bool(answer.status_code == 200)


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


def test_without_offline_access_the_token_is_long_and_alone(app: App) -> None:
    body = app.tokens(scope="payments:read")
    assert (
        body["expires_in"] == 7776000
        and "refresh_token" not in body
        and "refresh_token_expires_in" not in body
    )


def test_nothing_that_works_is_kept_in_clear(app: App) -> None:
    code = app.code()
    body = app.exchange(code).json()
    kept = str(
        [list(model.objects.values()) for model in (Application, Grant, AccessToken, RefreshToken)]
    )
    assert not [
        one
        for one in (code, body["access_token"], body["refresh_token"], app.secret)
        if one in kept
    ]


def test_a_token_is_held_to_its_scopes(app: App) -> None:
    answer = Api(app.tokens(scope="payments:read")["access_token"]).post(
        "/payments", {"payment_intent": {}}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "insufficient_scope")


def test_a_token_ends_with_its_lifetime(app: App) -> None:
    token = app.tokens()["access_token"]
    with time_machine.travel(clock.real_now() + timedelta(seconds=3599), tick=False):
        assert works(token)
    with time_machine.travel(clock.real_now() + timedelta(seconds=3601), tick=False):
        assert not works(token)


def test_a_token_ends_when_its_person_leaves_the_store(app: App, cast: Cast) -> None:
    from apps.stores.models import Member

    token = app.tokens()["access_token"]
    Member.objects.filter(user=cast.alice).delete()
    assert not works(token)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
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
    ],
)
def test_an_authorization_request_that_is_not_right_is_refused(
    app: App, changed: dict[str, str | None], code: str
) -> None:
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
        assert consent.status_code == 400
    else:
        assert (
            consent.headers["Location"].startswith(f"{BACK}?")
            and "state=x" in consent.headers["Location"]
        )


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


@pytest.mark.parametrize("path", ["/api/v2/payments", "/api/v2/oauth/userinfo"])
def test_a_token_in_the_query_opens_nothing(app: App, path: str) -> None:
    token = app.tokens(scope="payments:read profile")["access_token"]
    assert Client().get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert Client().get(f"{path}?access_token={token}").status_code == 401


def test_who_denies_sends_the_app_a_refusal(app: App) -> None:
    told = parse_qs(urlsplit(app.decide("deny").json()["redirect_to"]).query)
    assert (told["error"], told["state"]) == (
        ["access_denied"],
        ["x y&z"],
    ) and not Grant.objects.exists()


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
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
    ],
)
def test_an_exchange_that_is_not_right_is_refused(
    app: App, changed: dict[str, str | None], status: int, code: str
) -> None:
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


def test_a_refresh_replaces_both_tokens_and_keeps_store_and_mode(app: App) -> None:
    first = app.tokens(livemode="true")
    second = app.refresh(first["refresh_token"]).json()
    same = ("scope", "store_id", "livemode", "expires_in", "refresh_token_expires_in", "token_type")
    assert {name: first[name] for name in same} == {name: second[name] for name in same}
    assert works(second["access_token"]) and not works(first["access_token"])
    assert second["refresh_token"] != first["refresh_token"]
    refused(app.refresh(second["refresh_token"], scope="refunds:write"), 400, "invalid_scope")


def test_the_token_just_replaced_works_for_a_minute_and_then_ends_the_family(app: App) -> None:
    first = app.tokens()["refresh_token"]
    second = app.refresh(first).json()
    with time_machine.travel(clock.real_now() + timedelta(seconds=59), tick=False):
        third = app.refresh(first).json()
        assert works(second["access_token"]) and works(third["access_token"])
    with time_machine.travel(clock.real_now() + timedelta(seconds=62), tick=False):
        refused(app.refresh(first), 400, "invalid_grant")
        assert not works(second["access_token"]) and not works(third["access_token"])
        refused(app.refresh(third["refresh_token"]), 400, "invalid_grant")


def test_a_refresh_token_lives_ninety_days(app: App) -> None:
    token = app.tokens()["refresh_token"]
    with time_machine.travel(clock.real_now() + timedelta(seconds=7776001), tick=False):
        refused(app.refresh(token), 400, "invalid_grant")


def test_a_new_consent_ends_the_one_before_of_that_mode_only(app: App) -> None:
    first = app.tokens()
    live = app.tokens(livemode="true")
    second = app.tokens()
    assert [works(one["access_token"]) for one in (first, live, second)] == [False, True, True]
    refused(app.refresh(first["refresh_token"]), 400, "invalid_grant")


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_revoking_either_token_ends_both(app: App, which: str) -> None:
    body = app.tokens()
    refused(app.post("revoke", token=body[which]), 401, "invalid_client")
    assert works(body["access_token"])
    answer = app.post(
        "revoke", token=body[which], client_id=app.client_id, client_secret=app.secret
    )
    assert (answer.status_code, answer.content) == (200, b"")
    assert not works(body["access_token"])
    refused(app.refresh(body["refresh_token"]), 400, "invalid_grant")


def test_a_bearer_may_revoke_itself_and_an_unknown_token_is_no_failure(
    app: App, cast: Cast
) -> None:
    token = app.tokens()["access_token"]
    assert (
        Client()
        .post(
            "/oauth/revoke",
            b"",
            content_type="application/x-www-form-urlencoded",
            headers={"Authorization": f"Bearer {token}"},
        )
        .content
        == b""
    )
    assert not works(token)
    assert app.post("revoke", token="svco_" + "0" * 40).status_code == 200
    refused(app.post("revoke"), 400, "invalid_request")
    public = App(cast, confidential=False)
    other = public.tokens()["access_token"]
    assert public.post("revoke", token=other, client_id=public.client_id).status_code == 200
    assert not works(other)


def test_userinfo_tells_who_let_the_app_in(app: App, cast: Cast) -> None:
    answer = Api(app.tokens(scope="profile")["access_token"]).get("/oauth/userinfo")
    assert answer.json() == {
        "sub": str(cast.alice.pk),
        "name": cast.alice.name,
        "email": cast.alice.email,
    }
    refused(
        Api(app.tokens(scope="payments:read")["access_token"]).get("/oauth/userinfo"),
        403,
        "insufficient_scope",
    )
    refused(Api().get("/oauth/userinfo"), 401, "invalid_token")


def test_an_app_has_one_agent_credential_whose_secret_is_replaced(app: App, cast: Cast) -> None:
    api = Api(app.tokens(scope="agents:write")["access_token"])
    first = api.post("/oauth/agent_credentials", {"scopes": ["payments:read"]})
    second = api.post("/oauth/agent_credentials")
    assert (first.status_code, second.status_code) == (201, 201)
    assert (
        first.json()["id"] == second.json()["id"]
        and first.json()["secret"] != second.json()["secret"]
    )
    assert first.json()["scopes"] == ["payments:read"] and len(second.json()["scopes"]) == 8
    assert (second.json()["livemode"], second.json()["mode"]) == (False, "test")
    refused(
        api.post("/oauth/agent_credentials", {"scopes": ["refunds:write"]}), 422, "invalid_request"
    )
    refused(
        Api(app.tokens(scope="profile")["access_token"]).post("/oauth/agent_credentials"),
        403,
        "insufficient_scope",
    )
    storeless = Api(app.tokens(scope="agents:write", store_id="")["access_token"])
    refused(storeless.post("/oauth/agent_credentials"), 422, "store_required")


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


def test_apps_are_the_stores_own_and_a_session_is_needed(app: App, cast: Cast) -> None:
    call: Callable[..., Any] = app.alice.client.get
    assert [one["id"] for one in call("/api/v2/merchants/oauth_apps").json()] == [app.id]
    assert "client_secret" not in call(f"/api/v2/merchants/oauth_apps/{app.id}").json()
    assert cast.bakery.test.get("/merchants/oauth_apps").status_code == 401
    assert (
        Browser(cast.charlie).client.get(f"/api/v2/merchants/oauth_apps/{app.id}").status_code
        == 404
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"redirect_uris": ["http://app.example/"]},
        {"redirect_uris": ["https://a.example/#x"]},
        {"redirect_uris": []},
        {"scopes": ["all"]},
        {"name": ""},
    ],
)
def test_an_app_that_is_not_right_is_refused(app: App, fields: dict[str, Any]) -> None:
    sent = {"oauth_application": fields}
    answer = app.alice.client.patch(
        f"/api/v2/merchants/oauth_apps/{app.id}", sent, content_type="application/json"
    )
    assert answer.status_code == 422


def test_a_rotated_secret_ends_the_old_one_and_a_deactivated_app_everything(app: App) -> None:
    body = app.tokens()
    path = f"/api/v2/merchants/oauth_apps/{app.id}"
    renewed = app.alice.client.post(f"{path}/rotate_secret").json()["client_secret"]
    refused(app.refresh(body["refresh_token"]), 401, "invalid_client")
    assert app.refresh(body["refresh_token"], client_secret=renewed).status_code == 200
    assert app.alice.client.delete(path).status_code == 204
    assert app.alice.client.get(path).json()["active"] is False
    assert not AccessToken.objects.filter(application__is_active=True).exists()
    assert app.decide().status_code == 400
