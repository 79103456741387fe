"""Tokens: their scopes and lifetimes, how they are replaced and how they end."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from apps.access.models import AccessToken, Application, Grant, RefreshToken
from apps.core import clock
from apps.stores.models import Member, Role
from tests.cast import Api, Cast
from tests.contract.oauth.apps import App, refused, works


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
        secret
        for secret in (code, body["access_token"], body["refresh_token"], app.secret)
        if secret in kept
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


def test_a_token_reads_nothing_more_when_its_person_becomes_a_cashier(app: App, cast: Cast) -> None:
    api = Api(app.tokens(scope="payments:read")["access_token"])
    swaps = "/balance_swaps"  # a token needs none of its scopes for it
    assert api.get(swaps).status_code == 200
    Member.objects.filter(user=cast.alice).update(role=Role.CASHIER)
    assert api.get(swaps).status_code == 403


def test_a_token_ends_when_its_person_leaves_the_store(app: App, cast: Cast) -> None:
    token = app.tokens()["access_token"]
    Member.objects.filter(user=cast.alice).delete()
    assert not works(token)


@pytest.mark.parametrize("path", ["/api/v2/payments", "/api/v2/oauth/userinfo"])
def test_a_token_in_the_query_opens_nothing(app: App, path: str) -> None:
    token = app.tokens(scope="payments:read profile")["access_token"]
    assert Client().get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert Client().get(f"{path}?access_token={token}").status_code == 401


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
        assert works(second["access_token"])
        lives = third.pop("expires_in"), third.pop("refresh_token_expires_in")
        assert lives[0] in (3540, 3541) and lives[1] in (7775940, 7775941)
        assert {name: second[name] for name in third} == third, "the same successor"
    with time_machine.travel(clock.real_now() + timedelta(seconds=62), tick=False):
        refused(app.refresh(first), 400, "invalid_grant")
        assert not works(second["access_token"]) and not works(third["access_token"])
        refused(app.refresh(third["refresh_token"]), 400, "invalid_grant")


def test_a_second_chain_ends_the_family(app: App) -> None:
    """Somebody who copied a token refreshes it beside its owner, who has gone on meanwhile."""
    first = app.tokens()["refresh_token"]
    second = app.refresh(first).json()
    third = app.refresh(second["refresh_token"]).json()
    refused(app.refresh(first), 400, "invalid_grant")
    assert not works(third["access_token"])
    refused(app.refresh(third["refresh_token"]), 400, "invalid_grant")


def test_a_repeat_with_another_scope_is_answered_with_what_was_given(app: App) -> None:
    first = app.tokens(scope="payments:read profile offline_access")["refresh_token"]
    narrow = app.refresh(first, scope="payments:read").json()
    again = app.refresh(first).json()
    assert (again["scope"], again["access_token"]) == (narrow["scope"], narrow["access_token"])


def test_a_refresh_token_lives_ninety_days(app: App) -> None:
    token = app.tokens()["refresh_token"]
    with time_machine.travel(clock.real_now() + timedelta(seconds=7776001), tick=False):
        refused(app.refresh(token), 400, "invalid_grant")


def test_a_new_consent_ends_the_one_before_of_that_mode_only(app: App) -> None:
    first = app.tokens()
    live = app.tokens(livemode="true")
    second = app.tokens()
    assert [works(answer["access_token"]) for answer in (first, live, second)] == [
        False,
        True,
        True,
    ]
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
