"""A live credential that a person has just made sends coins only to addresses that the store knows;
the owners' link revokes it, once, without signing in, and never by being opened."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail
from django.test import Client

from apps.access import makers, waiting_period
from apps.access.access import Access
from apps.access.factors import second_factor
from apps.access.models import (
    AccessToken,
    AgentCredential,
    ApiKey,
    Application,
    Grant,
    RefreshToken,
)
from apps.access.services import create_agent_credential, create_api_key
from apps.agents.services.payouts import set_cap
from apps.assets.models import Asset
from apps.core import clock, mail
from apps.payments.models import Refund
from apps.payouts.models import Payout, Schedule
from apps.payouts.services.destinations import add_wallet
from apps.stores.models import Member
from apps.stores.services import change_store
from apps.stores.settings import write_settings
from tests import make
from tests.cast import Api, Cast
from tests.contract.oauth.apps import App
from tests.dashboard.browse import Browser, text

THIEF = "0x52908400098527886E0F7030069857D2E4169EE7"
SAVED = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"


@pytest.fixture(autouse=True)
def coins(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "ETH", 10**18)
    add_wallet(cast.bakery.store, "live", "ethereum", SAVED)


@pytest.fixture
def owner(cast: Cast) -> Access:
    return cast.bakery.owner_access("live")


def key_of(owner: Access, *scopes: str) -> Api:
    return Api(create_api_key(owner.store, "live", scope_names=scopes or None, by=owner)[1])


def payout(api: Api, address: str, key: str = "one", path: str = "/payouts") -> Any:
    body = {"asset_id": "ETH", "amount_atomic": str(10**16), "destination_address": address}
    return api.post(path, body, key=key)


def app_of(cast: Cast, *scopes: str) -> App:
    """An app that may ask for these, and an owner who has shown a code."""
    app = App(cast)
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    app.has_codes = True
    Application.objects.filter(pk=app.id).update(scopes=list(scopes))
    return app


def hours_later(hours: float) -> Any:
    return time_machine.travel(clock.real_now() + timedelta(hours=hours), tick=True)


def links() -> list[str]:
    mail.send_due()
    found = [re.search(r"/dashboard/stop/\S+", item.body) for item in django_mail.outbox]
    return [match[0] for match in found if match]


def refused(answer: Any) -> None:
    assert answer.status_code == 422, answer.content
    assert "This credential can send to new addresses from" in answer.content.decode()


# --- what it can't do yet -------------------------------------------------------------------------


def test_a_new_key_pays_only_to_what_the_store_knows_until_the_waiting_period_is_over(
    owner: Access,
) -> None:
    api = key_of(owner)
    refused(payout(api, THIEF))
    assert not Payout.objects.exists()
    assert payout(api, SAVED, "two").status_code == 201
    with hours_later(23):
        refused(payout(api, THIEF))
    with hours_later(25):
        assert payout(api, THIEF).status_code == 201


def test_a_schedule_of_a_new_key_names_only_what_the_store_knows(owner: Access) -> None:
    api = key_of(owner)
    body = {"asset_id": "ETH", "frequency": "daily", "destination_address": THIEF}
    refused(api.post("/payout_schedules", {"payout_schedule": body}))
    made = api.post(
        "/payout_schedules", {"payout_schedule": {**body, "destination_address": SAVED}}
    )
    assert made.status_code == 201
    change = {"payout_schedule": {"destination_address": THIEF}}
    refused(api.patch(f"/payout_schedules/{made.json()['id']}", change))
    assert Schedule.objects.get().destination_address == SAVED.lower()


def test_a_new_key_refunds_only_to_who_paid(cast: Cast, owner: Access) -> None:
    paid = make.payment(cast.bakery.live)
    make.late_deposit(paid["id"])
    api = key_of(owner)
    refused(api.post(f"/payments/{paid['id']}/refunds", {"destination_address": THIEF}, key="a"))
    assert not Refund.objects.exists()
    back = api.post(f"/payments/{paid['id']}/refunds", {}, key="b")
    assert back.status_code == 201, back.content
    assert Refund.objects.exists()


def test_a_new_agent_pays_only_to_what_the_store_knows(cast: Cast, owner: Access) -> None:
    row, secret = create_agent_credential(owner.store, "live", by=owner)
    set_cap(row, Asset.objects.get(pk="ETH"), 10**18, 10**18)
    agent = Api(secret)
    answer = payout(agent, THIEF, path="/agentic/payouts")
    assert answer.status_code == 422 and "new addresses from" in answer.content.decode()
    assert payout(agent, SAVED, "two", path="/agentic/payouts").status_code == 201
    with hours_later(25):
        assert payout(agent, THIEF, "three", path="/agentic/payouts").status_code == 201


def test_a_new_agents_draw_is_sent_only_to_what_the_store_knows(cast: Cast, owner: Access) -> None:
    write_settings(owner.store, {"authorization_provider": "policy", "x402_dispatch": True})
    agent = Api(create_agent_credential(owner.store, "live", by=owner)[1])
    mandate = agent.post(
        "/agentic/mandates",
        {"asset_id": "ETH", "total_cap_atomic": str(10**17), "mandate_ref": "api"},
        key="m",
    )
    assert mandate.status_code == 201, mandate.content
    draw = {
        "mandate_ref": mandate.json()["mandate_ref"],
        "asset_id": "ETH",
        "amount_atomic": str(10**15),
        "pay_to": THIEF,
    }
    answer = agent.post("/agentic/x402/settlements", draw, key="d")
    assert answer.status_code == 403 and answer.json()["error"]["code"] == "authorization_denied"
    drawn = agent.post("/agentic/x402/settlements", {**draw, "pay_to": SAVED}, key="e")
    assert drawn.status_code == 201, drawn.content


def test_a_new_app_pays_only_to_what_the_store_knows_and_so_does_what_it_makes(
    cast: Cast,
) -> None:
    scopes = ("payouts:write", "agents:write", "offline_access")
    app = app_of(cast, *scopes)
    tokens = app.tokens(livemode="true", scope=" ".join(scopes))
    refused(payout(Api(tokens["access_token"]), THIEF))
    agent = Api(tokens["access_token"]).post("/oauth/agent_credentials", {})
    assert agent.status_code == 201
    row = AgentCredential.objects.get(application__isnull=False)
    assert row.sends_anywhere_from == Grant.objects.get().sends_anywhere_from is not None
    renewed = app.refresh(tokens["refresh_token"]).json()
    refused(payout(Api(renewed["access_token"]), THIEF, "again"))
    assert set(AccessToken.objects.values_list("sends_anywhere_from", flat=True)) == {
        row.sends_anywhere_from
    }
    with hours_later(25):
        later = app.refresh(renewed["refresh_token"]).json()
        assert payout(Api(later["access_token"]), THIEF, "later").status_code == 201


def test_an_app_that_is_authorized_anew_waits_whatever_agent_it_had(cast: Cast) -> None:
    """A language model's host presents its token, which leads to the agent of before."""
    scopes = ("payouts:write", "agents:write")
    app = app_of(cast, *scopes)
    old = app.tokens(livemode="true", scope=" ".join(scopes))["access_token"]
    assert Api(old).post("/oauth/agent_credentials", {}).status_code == 201
    AgentCredential.objects.filter(application__isnull=False).update(sends_anywhere_from=None)
    write_settings(cast.bakery.store, {"authorization_provider": "policy"})
    token = app.tokens(livemode="true", scope=" ".join(scopes))["access_token"]
    set_cap(
        AgentCredential.objects.get(application__isnull=False),
        Asset.objects.get(pk="ETH"),
        10**17,
        10**17,
    )
    for address, is_refused in ((THIEF, True), (SAVED, False)):
        sent = by_tool(token, address)
        assert sent["isError"] is is_refused, sent


def by_tool(token: str, address: str) -> Any:
    arguments = {
        "asset_id": "ETH",
        "amount_atomic": str(10**16),
        "destination_address": address,
        "idempotency_key": address,
    }
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "send_payout", "arguments": arguments},
    }
    headers = {"Authorization": f"Bearer {token}"}
    answer = Client().post("/mcp", message, content_type="application/json", headers=headers)
    return answer.json()["result"]


def test_a_key_that_is_taken_over_is_new_again(cast: Cast, owner: Access) -> None:
    key, _ = create_api_key(owner.store, "live", scope_names=["payouts:write"])
    ApiKey.objects.filter(pk=key.pk).update(user=cast.bob)
    Member.objects.filter(store=owner.store, user=cast.bob).delete()
    key.refresh_from_db()
    refused(payout(Api(makers.take_over(owner, key)), THIEF))
    (link,) = links()
    assert "Access revoked" in text(Browser().post(link))
    key.refresh_from_db()
    assert key.revoked_at is not None


# --- what waits for nothing -----------------------------------------------------------------------


def test_keys_of_the_operator_of_test_mode_and_of_stores_without_a_period_wait_for_nothing(
    cast: Cast, owner: Access
) -> None:
    operators, _ = create_api_key(owner.store, "live")
    of_test, _ = create_api_key(owner.store, "test", by=cast.bakery.owner_access("test"))
    harmless, _ = create_api_key(owner.store, "live", scope_names=["payments:read"], by=owner)
    change_store(owner.store, cooling_hours=0)
    none, secret = create_api_key(owner.store, "live", by=owner)
    for key in (operators, of_test, harmless, none):
        assert key.sends_anywhere_from is None
    assert payout(Api(secret), THIEF).status_code == 201
    (link,) = links()
    assert "It already works. If you expected this" in django_mail.outbox[-1].body
    assert "Access revoked" in text(Browser().post(link)), "the link is there all the same"


def test_a_repeat_answers_what_the_key_made_before(owner: Access, cast: Cast) -> None:
    first = payout(cast.bakery.live, THIEF)
    assert first.status_code == 201
    again = payout(key_of(owner), THIEF)
    assert again.status_code == 201 and again.json()["id"] == first.json()["id"]


# --- the link -------------------------------------------------------------------------------------


def a_key(cast: Cast) -> Callable[[], bool]:
    owner = cast.bakery.owner_access("live")
    row, _ = create_api_key(owner.store, "live", by=owner)
    return lambda: ApiKey.objects.get(pk=row.pk).revoked_at is None


def an_agent(cast: Cast) -> Callable[[], bool]:
    owner = cast.bakery.owner_access("live")
    row, _ = create_agent_credential(owner.store, "live", by=owner)
    return lambda: AgentCredential.objects.get(pk=row.pk).revoked_at is None


def an_app(cast: Cast) -> Callable[[], bool]:
    app = app_of(cast, "payouts:write", "offline_access")
    app.tokens(livemode="true", scope="payouts:write offline_access")
    return lambda: (
        AccessToken.objects.filter(revoked_at=None).exists()
        or RefreshToken.objects.filter(revoked=None).exists()
    )


@pytest.mark.parametrize("make_one", [a_key, an_agent, an_app])
def test_the_owners_link_revokes_it_once_and_only_when_its_button_is_pressed(
    make_one: Callable[[Cast], Callable[[], bool]], cast: Cast
) -> None:
    is_open = make_one(cast)
    (link,) = links()
    email = django_mail.outbox[-1]
    assert email.to == [cast.alice.email] and "it sends coins only to" in email.body
    for _ in range(3):  # a scanner of mail
        assert "Revoke this access?" in text(Browser().get(link))
    assert is_open()
    assert "Access revoked" in text(Browser().post(link))
    assert not is_open()
    assert "Nothing to stop" in text(Browser().post(link))
    assert Browser().post(link[:-1] + ("a" if link[-1] != "a" else "b")).status_code == 404


def test_the_link_of_a_consent_ends_a_code_that_was_not_used_yet(cast: Cast) -> None:
    app = app_of(cast, "payouts:write")
    code = app.code(livemode="true", scope="payouts:write")
    (link,) = links()
    assert "Access revoked" in text(Browser().post(link))
    assert app.exchange(code).status_code == 400
    assert not AccessToken.objects.filter(revoked_at=None).exists()


def test_the_link_is_over_after_three_days(cast: Cast) -> None:
    is_open = a_key(cast)
    (link,) = links()
    with hours_later(waiting_period.HOURS_MAX + 1):
        assert Browser().post(link).status_code == 404
    assert is_open()
