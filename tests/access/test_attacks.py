"""Whole attacks in live mode, by people who have shown their second factor: what they lack is the
right, and nothing moves."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as django_mail

from apps.access.factors import second_factor
from apps.access.models import AccessToken, AgentCredential, ApiKey, Application
from apps.assets.models import Asset
from apps.core import clock, mail
from apps.ledger.selectors import balances
from apps.payments.models import Refund
from apps.payouts.models import Payout, Schedule
from apps.payouts.services import runs
from apps.stores.models import Role
from apps.swaps.models import Swap
from apps.webhooks.models import Endpoint
from tests import make
from tests.access.test_rights import HOOK, app_with, code_in, key_with, send
from tests.cast import Api, Cast, join, person
from tests.contract.oauth.apps import BACK, App
from tests.dashboard.browse import Browser, next_code

THIEF = "0x52908400098527886E0F7030069857D2E4169EE7"
COINS = 10**18


def signed_in(cast: Cast, role: str) -> Browser:
    """In live mode, with a code of a moment ago."""
    user = person(role)
    join(cast.bakery.store, user, role)
    browser = Browser(user).prove()
    browser.switch("live")
    return browser


@pytest.fixture(autouse=True)
def coins(cast: Cast) -> None:
    make.store_coins(cast.bakery.store, "ETH", COINS)
    Asset.objects.filter(pk="ETH_USDC").update(contract_address="0x" + "01" * 20, is_active=True)


def with_code(browser: Browser, method: str, path: str, body: Any) -> Any:
    assert browser.user is not None
    return send(browser, method, path, body, **{"X-OTP-Code": next_code(browser.user)})


def nothing_moved(cast: Cast) -> None:
    for model in (Payout, Refund, Swap, Schedule):
        assert not model._default_manager.exists(), model
    assert balances(cast.bakery.store.pk, "live")["ETH"].available_atomic == COINS


TO_THIEF = {"asset_id": "ETH", "amount_atomic": str(COINS), "destination_address": THIEF}
SOLD = {"source_asset_id": "ETH", "buy_asset_id": "ETH_USDC", "sell_amount_atomic": str(COINS)}


@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.VIEWER, Role.ACCOUNTANT])
def test_who_may_not_move_money_gets_none_out_and_no_credential_that_could(
    cast: Cast, role: str
) -> None:
    thief = signed_in(cast, role)
    payment = make.payment(cast.bakery.live)["id"]
    before = (ApiKey.objects.count(), AgentCredential.objects.count(), AccessToken.objects.count())
    schedule = {
        "payout_schedule": {"asset_id": "ETH", "frequency": "daily", "destination_address": THIEF}
    }
    for path, body in (
        ("/payouts", TO_THIEF),
        ("/payout_schedules", schedule),
        ("/balance_swaps", SOLD),
        (f"/payments/{payment}/refunds", {"destination_address": THIEF}),
        ("/api_keys", key_with("payouts:write", "payouts:read", mode="live")),
        ("/api_keys", key_with("refunds:write", mode="live")),
    ):
        answer = with_code(thief, "POST", path, body)
        assert code_in(answer)[0] == 403 and code_in(answer)[1] in (
            "insufficient_scope",
            "role_forbidden",
        ), (path, answer.content)
    for page, fields in (
        (
            "payouts/new",
            {"asset_id": "ETH", "amount": "1", "destination_address": THIEF, "form_key": "a" * 32},
        ),
        ("payouts/destinations/wallet", {"network": "ethereum", "address": THIEF}),
        (
            "swaps/new",
            {
                "source_asset_id": "ETH",
                "buy_asset_id": "ETH_USDC",
                "amount": "1",
                "form_key": "a" * 32,
            },
        ),
        ("agents/new", {"name": "Bot", "scopes": ["payouts:write"]}),
    ):
        assert thief.post(page, **fields).status_code == 403, page
    assert (
        ApiKey.objects.count(),
        AgentCredential.objects.count(),
        AccessToken.objects.count(),
    ) == before
    nothing_moved(cast)


def test_a_developers_app_and_its_agent_pay_nothing_out_in_live_mode(cast: Cast) -> None:
    app = app_with(cast, "payouts:write", "agents:write")
    app.alice = signed_in(cast, Role.DEVELOPER)
    app.has_codes = True
    answer = app.decide(scope="payouts:write agents:write", livemode="true")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_scope")
    token = Api(app.tokens(scope="agents:write", livemode="true")["access_token"])
    assert code_in(token.post("/payouts", TO_THIEF, key="one")) == (403, "insufficient_scope")
    assert token.post("/oauth/agent_credentials", {"scopes": ["payouts:write"]}).status_code == 403
    agent = Api(token.post("/oauth/agent_credentials").json()["secret"])
    assert agent.get("/agentic/account").json()["mode"] == "live"
    assert code_in(agent.post("/agentic/payouts", TO_THIEF, key="two")) == (
        403,
        "insufficient_scope",
    )
    nothing_moved(cast)


def test_a_password_alone_opens_no_way_for_live_money_from_the_other_mode_either(
    cast: Cast,
) -> None:
    """Alice's password was stolen before she set up a second factor."""
    thief = Browser(cast.alice)
    app = app_with(cast, "payouts:write")
    before = ApiKey.objects.count()
    assert code_in(send(thief, "POST", "/api_keys", key_with("payouts:write", mode="live"))) == (
        403,
        "mfa_required",
    )
    answer = app.decide(scope="payouts:write", livemode="true")
    assert (answer.status_code, answer.json()["error"]) == (403, "mfa_required")
    assert thief.post("team/invite", email="mallory@example.com", role="owner").status_code == 403
    thief.switch("live")
    soon = clock.iso(clock.real_now() + timedelta(seconds=6))
    schedule = {
        "asset_id": "ETH",
        "frequency": "daily",
        "destination_address": THIEF,
        "next_payout_at": soon,
    }
    assert code_in(send(thief, "POST", "/payout_schedules", {"payout_schedule": schedule})) == (
        403,
        "mfa_required",
    )
    assert code_in(send(thief, "POST", "/payouts", TO_THIEF)) == (403, "mfa_required")
    with time_machine.travel(clock.real_now() + timedelta(days=2), tick=True):
        assert runs.run_schedules() == 0
    assert ApiKey.objects.count() == before
    nothing_moved(cast)


def test_a_cookie_without_its_code_redirects_nothing(cast: Cast) -> None:
    """Five minutes after the last code, in live mode: neither the events nor an app's codes go to
    the thief."""
    app = App(cast)
    made = cast.bakery.live.post("/webhook_endpoints", {"webhook_endpoint": HOOK}).json()
    owner = Browser(cast.alice).prove()
    owner.switch("live")
    hook = {"webhook_endpoint": {"url": "https://1.0.0.1/thief"}}
    uris = {"oauth_application": {"redirect_uris": ["https://thief.example/back"]}}
    with time_machine.travel(clock.real_now() + timedelta(minutes=6), tick=True):
        for method, path, body in (
            ("PATCH", f"/webhook_endpoints/{made['id']}", hook),
            ("POST", f"/webhook_endpoints/{made['id']}/rotate_secret", None),
            ("DELETE", f"/webhook_endpoints/{made['id']}", None),
            ("POST", "/webhook_endpoints", hook),
            ("PATCH", f"/merchants/oauth_apps/{app.id}", uris),
            ("POST", f"/merchants/oauth_apps/{app.id}/rotate_secret", None),
            ("DELETE", f"/merchants/oauth_apps/{app.id}", None),
        ):
            assert code_in(send(owner, method, path, body)) == (403, "otp_required"), path
        shown = owner.post(
            f"apps/own/{app.id}",
            name="Books",
            redirect_uris="https://thief.example/back",
            scopes="payments:read",
        )
        assert shown.context["asks_code"]
    assert Endpoint.objects.get().url == HOOK["url"]
    assert Application.objects.get(pk=app.id).redirect_uris.split() == [BACK]


def test_a_code_for_one_act_does_no_other(cast: Cast) -> None:
    """The code that paid a little to a known wallet pays nothing more, and nobody else."""
    cast.bakery.store.refresh_from_db()
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    thief = Browser(cast.alice)
    thief.switch("live")
    known = {"asset_id": "ETH", "amount_atomic": "1", "destination_address": THIEF}
    code = next_code(cast.alice)
    first = send(thief, "POST", "/payouts", known, **{"X-OTP-Code": code})
    assert first.status_code == 422, "a new address of a person waits"
    assert code_in(send(thief, "POST", "/payouts", TO_THIEF)) == (403, "otp_required")
    assert code_in(send(thief, "POST", "/payouts", TO_THIEF, **{"X-OTP-Code": code})) == (
        403,
        "otp_invalid",
    )
    nothing_moved(cast)


def test_whoever_gives_themselves_a_way_is_heard_of(cast: Cast) -> None:
    """An admin's session makes a key that pays out: the owners read of it at once."""
    admin = signed_in(cast, Role.ADMIN)
    answer = with_code(admin, "POST", "/api_keys", key_with("payouts:write", mode="live"))
    assert answer.status_code == 201
    mail.send_due()
    (message,) = [item for item in django_mail.outbox if "API key" in item.subject]
    assert (
        message.to == [cast.alice.email]
        and "payouts:write" in message.body
        and answer.json()["secret"] not in message.body
    )
