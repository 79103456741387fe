"""Nobody gets through the API or the dashboard with what they weren't given, nor hands it on."""

from typing import Any

import pytest

from apps.access.factors import second_factor
from apps.access.models import ApiKey
from apps.agents.models import AgentPayoutCap
from apps.assets.models import Asset
from apps.core import clock
from apps.payouts.models import Destination, Schedule
from apps.payouts.services.destinations import add_wallet
from apps.stores.models import Member, Role
from apps.swaps.models import AutoSwap, Swap
from apps.webhooks.models import Endpoint
from tests import make
from tests.cast import Api, Cast, join, person
from tests.contract.oauth.apps import BACK, App
from tests.dashboard.browse import Browser, code_of, next_code, text

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
HOOK = {"url": "https://1.1.1.1/hook", "subscribed_events": ["payment_intent.completed"]}


def send(browser: Browser, method: str, path: str, body: Any = None, **headers: str) -> Any:
    call = getattr(browser.client, method.lower())
    sent = {**headers, **({"Idempotency-Key": "one"} if method == "POST" else {})}
    return call(f"/api/v2{path}", body, content_type="application/json", headers=sent)


def code_in(answer: Any) -> tuple[int, str | None]:
    return answer.status_code, answer.json()["error"]["code"]


def key_with(*scopes: str, mode: str = "test") -> dict[str, Any]:
    return {"api_key": {"name": "Till", "mode": mode, "scopes": list(scopes)}}


@pytest.fixture
def bob(cast: Cast) -> Browser:
    """A developer: may make keys, may not move money."""
    return Browser(cast.bob)


@pytest.fixture
def viewer(cast: Cast) -> Browser:
    victor = person("victor")
    join(cast.bakery.store, victor, Role.VIEWER)
    return Browser(victor)


@pytest.fixture
def live(cast: Cast) -> Browser:
    """Alice in live mode; she has no second factor."""
    browser = Browser(cast.alice)
    browser.switch("live")
    return browser


# --- what a credential may hold ---


@pytest.mark.parametrize("scope", ["payouts:write", "refunds:write", "x402:write", "accounts:act"])
def test_a_developer_makes_no_key_with_what_they_may_not(
    cast: Cast, bob: Browser, scope: str
) -> None:
    before = ApiKey.objects.count()
    answer = send(bob, "POST", "/api_keys", key_with("payments:read", scope))
    assert code_in(answer) == (403, "insufficient_scope")
    assert f"Insufficient scope: {scope} required" in answer.json()["error"]["message"]
    shown = bob.post("api-keys/new", name="Till", key_type="secret", scopes=[scope])
    assert shown.status_code == 403 and "Insufficient scope" in text(shown)
    assert ApiKey.objects.count() == before


def test_a_developers_key_without_named_scopes_has_what_they_hold(cast: Cast, bob: Browser) -> None:
    body = {"api_key": {"name": "Till", "mode": "test"}}
    made = send(bob, "POST", "/api_keys", body).json()["scopes"]
    assert {"payments:write", "webhooks:write", "payouts:read"} <= set(made)
    assert not {"payouts:write", "refunds:write", "x402:write", "assets:write"} & set(made)


def test_a_developer_makes_no_agent_that_pays_out_and_raises_no_cap(
    cast: Cast, bob: Browser
) -> None:
    shown = bob.post("agents/new", name="Bot", scopes=["payments:read", "payouts:write"])
    assert shown.status_code == 403 and "Insufficient scope: payouts:write" in text(shown)
    row = cast.bakery.agent()
    assert bob.post(f"agents/{row.pk}/caps", **{"SETH.per_tx": "5"}).status_code == 403
    assert not AgentPayoutCap.objects.exists()


def app_with(cast: Cast, *scopes: str) -> App:
    app = App(cast)
    body = {"oauth_application": {"name": "Books", "redirect_uris": [BACK], "scopes": list(scopes)}}
    answer = app.alice.client.patch(
        f"/api/v2/merchants/oauth_apps/{app.id}", body, content_type="application/json"
    )
    assert answer.status_code == 200
    return app


def test_a_developer_lets_no_app_in_that_pays_out(cast: Cast, bob: Browser) -> None:
    app = app_with(cast, "payments:read", "payouts:write")
    app.alice = bob
    refused = app.decide(scope="payments:read payouts:write")
    told = refused.json()
    assert (refused.status_code, told["error"]) == (400, "invalid_scope")
    assert "payouts:write" in told["error_description"]
    query = app.query(scope="payments:read payouts:write")
    asked = bob.client.get("/api/v2/oauth/authorize", query, headers={"Accept": "application/json"})
    assert asked.json()["stores"] == []
    assert app.tokens(scope="payments:read")["scope"] == "payments:read"


def test_an_app_and_its_agent_may_no_more_than_the_person_may_still(cast: Cast) -> None:
    app = app_with(cast, "payouts:write", "payments:write", "agents:write")
    bob = Member.objects.get(user=cast.bob)
    Member.objects.filter(pk=bob.pk).update(role=Role.ADMIN)
    app.alice = Browser(cast.bob)
    token = app.tokens(scope="payouts:write payments:write agents:write")["access_token"]
    agent = Api(Api(token).post("/oauth/agent_credentials").json()["secret"])
    held = set(agent.get("/agentic/account").json()["agent"]["scopes"])
    assert "payouts:write" in held
    Member.objects.filter(pk=bob.pk).update(role=Role.DEVELOPER)
    refused = Api(token).post("/payouts", {}, key="one")
    assert code_in(refused) == (403, "insufficient_scope")
    assert make.payment(Api(token))["status"] == "pending"
    assert "payouts:write" not in agent.get("/agentic/account").json()["agent"]["scopes"]
    wanted = {"scopes": ["payouts:write"]}
    assert Api(token).post("/oauth/agent_credentials", wanted).status_code == 403


# --- swaps, which no scope guards ---


@pytest.fixture
def coins(cast: Cast) -> dict[str, str]:
    make.store_coins(cast.bakery.store, "SETH", 10**18)
    Asset.objects.filter(pk="USDC_SETH").update(contract_address="0x" + "01" * 20, is_active=True)
    return {
        "source_asset_id": "SETH",
        "buy_asset_id": "USDC_SETH",
        "sell_amount_atomic": str(10**17),
    }


def test_who_only_looks_sells_nothing(cast: Cast, viewer: Browser, coins: dict[str, str]) -> None:
    factor = second_factor.switch_on(viewer.user, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    answer = send(viewer, "POST", "/balance_swaps", coins, **{"X-OTP-Code": code_of(factor)})
    assert code_in(answer) == (403, "role_forbidden")
    assert not Swap.objects.exists()


def test_the_app_of_a_developer_sells_nothing_and_a_key_needs_no_scope(
    cast: Cast, bob: Browser, coins: dict[str, str]
) -> None:
    app = App(cast)
    app.alice = bob
    token = app.tokens(scope="payments:read")["access_token"]
    refused = Api(token).post("/balance_swaps", coins, key="one")
    assert code_in(refused) == (403, "role_forbidden")
    app.alice = Browser(cast.alice)
    token = app.tokens(scope="payments:read")["access_token"]
    assert Api(token).post("/balance_swaps", coins, key="two").status_code == 201
    key = cast.bakery.with_scopes("payments:read")
    assert key.post("/balance_swaps", coins, key="three").status_code == 201


# --- the second factor, in live mode ---


def test_live_money_needs_a_second_factor_at_every_door_of_the_api(
    cast: Cast, live: Browser
) -> None:
    schedule = Schedule.objects.create(
        store=cast.bakery.store,
        mode="live",
        asset_id="ETH",
        frequency="weekly",
        destination_address=ADDRESS.lower(),
        minimum_fiat_currency="USD",
        next_payout_at=clock.real_now(),
        anchor_day=1,
        created_at=clock.real_now(),
        updated_at=clock.real_now(),
    )
    wanted = {
        "payout_schedule": {
            "asset_id": "ETH_USDC",
            "frequency": "daily",
            "destination_address": ADDRESS,
        }
    }
    change = {"payout_schedule": {"frequency": "daily"}}
    payment = make.payment(cast.bakery.live)["id"]
    here = f"/payout_schedules/{schedule.pk}"
    for method, path, body in (
        ("POST", "/payout_schedules", wanted),
        ("PATCH", here, change),
        ("POST", f"{here}/run", None),
        ("POST", f"/payments/{payment}/refunds", {}),
        ("POST", "/api_keys", key_with("refunds:write", mode="live")),
        ("POST", "/api_keys", {"api_key": {"name": "Till", "mode": "live"}}),
    ):
        assert code_in(send(live, method, path, body)) == (403, "mfa_required"), path
    assert Schedule.objects.count() == 1
    paused = send(live, "PATCH", here, {"payout_schedule": {"active": False}})
    assert (paused.status_code, paused.json()["active"]) == (200, False)


def test_what_moves_no_money_and_test_mode_need_none(cast: Cast, live: Browser) -> None:
    assert (
        send(live, "POST", "/api_keys", key_with("payments:write", mode="live")).status_code == 201
    )
    assert send(live, "POST", "/api_keys", key_with("payouts:write")).status_code == 201


def test_a_key_and_a_token_have_no_second_factor_to_show(cast: Cast, live: Browser) -> None:
    payment = make.payment(cast.bakery.live)["id"]
    refused = cast.bakery.live.post(f"/payments/{payment}/refunds", {}, key="one")
    assert refused.json() == {"error": "Payment is not refundable"}


def test_live_money_needs_a_second_factor_at_every_page(cast: Cast, live: Browser) -> None:
    asset = Asset.objects.get(pk="ETH_USDC")
    wallet = add_wallet(cast.bakery.store, "live", "ethereum", ADDRESS)
    agent = cast.bakery.agent("live")
    other = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
    bank = {"currency": "EUR", "holder": "Alice", "account": "DE89370400440532013000"}
    schedule = {"asset_id": "ETH", "frequency": "weekly", "destination": f"wallet:{wallet.pk}"}
    for path, fields in (
        ("payouts/destinations/wallet", {"network": "ethereum", "address": other}),
        ("payouts/destinations/bank", bank),
        ("payouts/schedules/new", schedule),
        ("settings/auto-swap", {"target_asset_id": asset.pk}),
        ("api-keys/new", {"name": "Till", "key_type": "secret", "scopes": ["payouts:write"]}),
        ("agents/new", {"name": "Bot", "scopes": ["payouts:write"]}),
        (f"agents/{agent.pk}/caps", {"ETH.per_tx": "5"}),
    ):
        shown = live.post(path, **fields)
        assert shown.status_code == 403, path
        assert "Set up two-factor authentication first." in text(shown), path
    assert Destination.objects.count() == 1
    assert (
        not Schedule.objects.exists() and not AutoSwap.objects.exclude(target_asset=None).exists()
    )
    assert not AgentPayoutCap.objects.exists()


def test_live_money_is_not_let_out_of_hand_without_a_second_factor(cast: Cast) -> None:
    app = app_with(cast, "payouts:write", "payments:read", "agents:write")
    for scope in ("payouts:write", "agents:write"):
        answer = app.decide(scope=scope, livemode="true")
        assert (answer.status_code, answer.json()["error"]) == (403, "mfa_required")
    asked = app.query(scope="payouts:write", livemode="true", state="x")
    page = f"/oauth/authorize?{'&'.join(f'{k}={v}' for k, v in asked.items())}"
    shown = app.alice.client.post(page, {"store_id": str(app.store.pk), "decision": "allow"})
    assert shown.status_code == 403
    assert "Set up two-factor authentication first." in text(shown)
    assert app.decide(scope="payments:read", livemode="true").status_code == 200
    assert app.decide(scope="payouts:write").status_code == 200


# --- a stolen cookie ---


def test_what_a_code_guards_when_made_it_guards_when_changed_or_removed(cast: Cast) -> None:
    app = App(cast)
    made = cast.bakery.test.post("/webhook_endpoints", {"webhook_endpoint": HOOK}).json()
    second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    thief = Browser(cast.alice)
    uris = {"oauth_application": {"redirect_uris": ["https://thief.example/back"]}}
    hook = {"webhook_endpoint": {"url": "https://1.0.0.1/thief"}}
    for method, path, body in (
        ("PATCH", f"/webhook_endpoints/{made['id']}", hook),
        ("DELETE", f"/webhook_endpoints/{made['id']}", None),
        ("PATCH", f"/merchants/oauth_apps/{app.id}", uris),
        ("DELETE", f"/merchants/oauth_apps/{app.id}", None),
    ):
        assert code_in(send(thief, method, path, body)) == (403, "otp_required"), path
    form = {"name": "Books", "redirect_uris": "https://thief.example", "scopes": "payments:read"}
    assert thief.post(f"apps/own/{app.id}", **form).context["asks_code"]
    for page in (f"webhooks/{made['id']}/delete", f"apps/own/{app.id}/deactivate"):
        answer = thief.post(page)
        assert answer.status_code == 303 and "/confirm?" in answer["Location"], page
    assert Endpoint.objects.get().url == HOOK["url"]
    code = {"X-OTP-Code": next_code(cast.alice)}
    done = send(Browser(cast.alice), "PATCH", f"/webhook_endpoints/{made['id']}", hook, **code)
    assert (done.status_code, done.json()["url"]) == (200, "https://1.0.0.1/thief")


def test_who_may_only_look_at_an_app_is_asked_for_no_code(cast: Cast, viewer: Browser) -> None:
    app = App(cast)
    second_factor.switch_on(viewer.user, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    assert viewer.get(f"apps/own/{app.id}").status_code == 200
