"""Apps in the dashboard: the store's own, and those that were let in; who lets an app out stops its
agent too."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from apps.access import scopes
from apps.access.authorization import tokens as oauth_tokens
from apps.access.authorization import validator as oauth_validator
from apps.access.models import AgentCredential, Application
from apps.core import clock
from apps.dashboard.developers.scope_words import MEANINGS
from apps.stores.models import Role
from tests.cast import Api, Cast, join, person
from tests.contract.oauth.apps import App, works
from tests.dashboard.browse import Browser, text

FORM = {
    "name": "Books",
    "redirect_uris": "https://app.example/back\n http://localhost:3000/back ",
    "scopes": ["payments:read", "profile"],
}


@pytest.fixture
def alice(cast: Cast) -> Browser:
    return Browser(cast.alice)


@pytest.fixture
def app(cast: Cast) -> App:
    return App(cast)


def agent_of(app: App, token: str) -> AgentCredential:
    made = Api(token).post("/oauth/agent_credentials")
    assert made.status_code == 201
    return AgentCredential.objects.get(pk=made.json()["id"])


def is_on(agent: AgentCredential) -> bool:
    agent.refresh_from_db()
    return agent.revoked_at is None


def let_out(browser: Browser) -> Any:
    found = re.search(r"/dashboard/apps/granted/[0-9a-f-]+/revoke", text(browser.get("apps")))
    assert found is not None
    assert browser.get(found.group()).status_code == 200
    return browser.post(found.group())


def test_the_consent_page_says_what_every_scope_allows() -> None:
    assert MEANINGS.keys() == set(scopes.OAUTH)


def test_an_app_is_made_and_its_secret_shown_once(cast: Cast, alice: Browser) -> None:
    shown = alice.post(
        "apps/own/new", **FORM, kind="confidential", website_url="https://app.example"
    )
    assert shown.status_code == 201
    secret = re.search(r"svccs_\w+", text(shown))
    app = Application.objects.get(store=cast.bakery.store)
    assert secret is not None and app.client_secret == oauth_validator.checksum(secret.group())
    assert app.redirect_uris.split() == ["https://app.example/back", "http://localhost:3000/back"]
    again = text(alice.get(f"apps/own/{app.pk}"))
    assert app.client_id in again and secret.group() not in again
    assert "Books" in text(alice.get("apps/own"))


def test_a_public_app_has_no_secret(cast: Cast, alice: Browser) -> None:
    shown = text(alice.post("apps/own/new", **FORM, kind="public"))
    app = Application.objects.get(store=cast.bakery.store)
    assert "svccs_" not in shown and app.client_type == "public"
    alice.post(f"apps/own/{app.pk}/secret")
    assert "A public app has no secret." in text(alice.get("apps/own"))


NEEDED: tuple[tuple[str, Any, str], ...] = (
    ("name", " ", "Name"),
    ("redirect_uris", "", "Redirect URIs"),
    ("redirect_uris", "http://app.example/back", "must be an https URL"),
    ("redirect_uris", "javascript:alert(1)", "must be a valid URL"),
    ("redirect_uris", "https://app.example/#x", "must not have a fragment"),
    (
        "redirect_uris",
        "\n".join(f"https://app.example/{n}" for n in range(11)),
        "Redirect URIs",
    ),
    ("website_url", "ftp://x", "must be a valid URL"),
    ("scopes", [], "Choose at least one scope."),
    ("scopes", ["payments:own"], "unknown scopes"),
    ("name", "a\x00b", "ame"),
)


def test_what_an_app_needs(cast: Cast, alice: Browser) -> None:
    for field, value, sentence in NEEDED:
        answer = alice.post("apps/own/new", **{**FORM, field: value})
        assert answer.status_code == 422 and sentence in text(answer), (field, value)
    assert not Application.objects.filter(store=cast.bakery.store).exists()


def test_an_app_is_changed_and_its_secret_replaced(cast: Cast, alice: Browser, app: App) -> None:
    assert alice.post(f"apps/own/{app.id}", **FORM | {"name": "Ledger"}).status_code == 303
    row = Application.objects.get(pk=app.id)
    assert (row.name, row.scopes) == ("Ledger", FORM["scopes"])
    old = row.client_secret
    shown = text(alice.post(f"apps/own/{app.id}/secret"))
    row.refresh_from_db()
    assert "svccs_" in shown and row.client_secret != old
    refused = alice.post(f"apps/own/{app.id}", **FORM | {"redirect_uris": "x"})
    assert refused.status_code == 422 and "must be a valid URL" in text(refused)


def test_an_app_that_is_switched_off_and_its_agents_are_refused(alice: Browser, app: App) -> None:
    token = app.tokens(scope="agents:write payments:read")["access_token"]
    agent = agent_of(app, token)
    alice.post(f"apps/own/{app.id}/deactivate")
    assert not works(token) and not is_on(agent)
    assert "deactivated" in text(alice.get(f"apps/own/{app.id}"))
    assert alice.get(f"apps/own/{app.id}/secret").status_code == 404


def test_the_app_of_another_store_is_not_found(cast: Cast, app: App) -> None:
    assert Browser(cast.charlie).get(f"apps/own/{app.id}").status_code == 404


def test_an_app_that_was_let_in_is_listed_in_its_mode_with_its_last_use(
    cast: Cast, alice: Browser, app: App
) -> None:
    token = app.tokens(scope="payments:read")["access_token"]
    shown = text(alice.get("apps"))
    assert "Books" in shown and "payments:read" in shown and "Never" in shown
    assert works(token)
    assert "never" not in text(alice.get("apps"))
    alice.switch("live")
    assert "No apps authorized in live mode yet" in text(alice.get("apps"))
    assert "No apps authorized in test mode yet" in text(Browser(cast.charlie).get("apps"))


def test_letting_an_app_out_ends_its_tokens_and_its_agent_at_once(alice: Browser, app: App) -> None:
    body = app.tokens(scope="agents:write payments:read offline_access")
    live = app.tokens(livemode="true")
    agent = agent_of(app, body["access_token"])
    assert "Has an agent" in text(alice.get("apps"))
    assert let_out(alice).status_code == 303
    assert not works(body["access_token"]) and not is_on(agent)
    assert app.refresh(body["refresh_token"]).status_code == 400
    assert works(live["access_token"])
    assert "No apps authorized in test mode yet" in text(alice.get("apps"))


def test_the_agent_of_an_app_ends_when_the_app_gives_its_token_back(app: App) -> None:
    token = app.tokens(scope="agents:write")["access_token"]
    agent = agent_of(app, token)
    app.post("revoke", token=token, client_id=app.client_id, client_secret=app.secret)
    assert not is_on(agent)


def test_a_new_consent_keeps_the_agent_only_while_it_may_have_one(app: App) -> None:
    agent = agent_of(app, app.tokens(scope="agents:write")["access_token"])
    app.tokens(scope="agents:write payments:read")
    assert is_on(agent)
    app.tokens(scope="payments:read")
    assert not is_on(agent)


def test_a_refresh_keeps_the_agent_and_the_end_of_the_grant_ends_it(app: App) -> None:
    body = app.tokens(scope="agents:write offline_access")
    agent = agent_of(app, body["access_token"])
    assert app.refresh(body["refresh_token"]).status_code == 200
    oauth_tokens.end_orphans(clock.real_now())
    assert is_on(agent)
    with time_machine.travel(clock.real_now() + timedelta(days=91), tick=True):
        oauth_tokens.end_orphans(clock.real_now())
    assert not is_on(agent)


def test_a_viewer_sees_apps_and_lets_none_out(cast: Cast, app: App) -> None:
    app.tokens()
    user = person("vera")
    join(cast.bakery.store, user, Role.VIEWER)
    viewer = Browser(user)
    assert "Revoke access" not in text(viewer.get("apps"))
    assert viewer.post(f"apps/own/{app.id}", **FORM).status_code == 403
