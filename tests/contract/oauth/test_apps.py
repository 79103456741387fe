"""Apps of a store: who registers them, their secrets, and how they end."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.access.models import AccessToken
from tests.cast import Api, Cast
from tests.contract.oauth.apps import App, refused
from tests.dashboard.browse import Browser


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


def test_apps_are_the_stores_own_and_a_session_is_needed(app: App, cast: Cast) -> None:
    call: Callable[..., Any] = app.alice.client.get
    assert [row["id"] for row in call("/api/v2/merchants/oauth_apps").json()] == [app.id]
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
