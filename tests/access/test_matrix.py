"""Every operation of the table, asked for by everybody through every door that has it: what comes
back is what the table says.

Which refusals are right is worked out here from the row alone. Nothing stays of an attempt: each is
rolled back.
"""

import itertools
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.db import transaction
from django.test import Client

from apps.access import credentials, operations, second_factor, sessions
from apps.access.models import AccessToken, ApiKey
from apps.access.oauth_validator import checksum
from apps.access.operations import ACT, ALWAYS, ANY_SCOPE, LIVE, TABLE, Operation
from apps.access.scopes import AGENT, ALL
from apps.access.services import create_agent_credential, create_api_key
from apps.agents.models import Mandate
from apps.assets.models import Asset
from apps.core import buckets, clock
from apps.core.models import OutgoingMail
from apps.payouts.models import ApprovalRule, Payout, PayoutApproval, Schedule
from apps.payouts.services.approval_decisions import digest_of
from apps.payouts.services.batches import open_batch
from apps.payouts.services.destinations import add_wallet
from apps.stores import roles
from apps.stores.models import Invitation, Member, Role, Store, User
from apps.webhooks.requests import EndpointRequest
from apps.webhooks.services.endpoints import register_endpoint
from tests import make
from tests.cast import Api, Cast, assemble, person
from tests.contract.test_oauth import BACK, CHALLENGE, App
from tests.dashboard.browse import Browser, text
from tests.stage import standing
from tests.whole import IS_WHOLE

FACTORS = ("none", "enrolled", "recent")
ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
OTHER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
COIN = {"test": "SETH", "live": "ETH"}
DOLLARS = {"test": "USDC_SETH", "live": "ETH_USDC"}
NETWORK = {"test": "sepolia", "live": "ethereum"}
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
REFUSALS = {
    "authentication_required",
    "login_required",
    "insufficient_scope",
    "role_forbidden",
    "credential_forbidden",
    "mfa_required",
    "otp_required",
    "platform_cannot_issue_credentials",
    "not_a_platform",
    "invalid_api_key",
}


# What a credential is told of what people, or others, do.
NOT_YOURS = REFUSALS - {"mfa_required", "otp_required"}


@dataclass
class Line:
    """How an operation is asked for: a call of the API or of the agents' one, or a page. The fields
    are filled in from the world."""

    row: Operation
    door: str
    path: str
    method: str = "POST"
    body: Any = None
    modes: tuple[str, ...] = ("test", "live")


def api(row: Operation, method: str, path: str, body: Any = None) -> Line:
    return Line(row, "api", path, method, body)


def page(row: Operation, path: str, **fields: str) -> Line:
    return Line(row, "page", path, "POST", fields)


def key_of(*scopes: str) -> dict[str, Any]:
    return {"api_key": {"name": "Till", "mode": "{mode}", "scopes": list(scopes)}}


TO_WALLET = {"asset_id": "{coin}", "amount_atomic": "1", "destination_address": ADDRESS}
TO_BANK = {"asset_id": "{coin}", "amount_atomic": "1", "fiat_payout_detail_id": "{unknown}"}
SOLD = {
    "source_asset_id": "{coin}",
    "buy_asset_id": "{dollars}",
    "sell_amount_atomic": "100000000000000000",
}
SCHEDULED = {
    "payout_schedule": {
        "asset_id": "{dollars}",
        "frequency": "daily",
        "destination_address": ADDRESS,
    }
}
HOOK = {
    "webhook_endpoint": {
        "url": "https://1.1.1.1/other",
        "subscribed_events": ["payment_intent.completed"],
    }
}
APP = {"oauth_application": {"name": "Books", "redirect_uris": [BACK], "scopes": ["payments:read"]}}
BANK = {"currency": "EUR", "holder": "Alice", "account": "DE89370400440532013000"}
SWAP_PAGE = {
    "source_asset_id": "{coin}",
    "buy_asset_id": "{dollars}",
    "amount": "0.1",
    "form_key": "a" * 32,
    "agreed": "1",
}
CONSENT = {
    "response_type": "code",
    "client_id": "{client}",
    "redirect_uri": BACK,
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
    "state": "x",
    "decision": "allow",
    "store_id": "{store}",
    "livemode": "{is_live}",
}
T = operations
LINES = (
    api(T.PAYOUT, "POST", "payouts", TO_WALLET),
    page(
        T.PAYOUT,
        "payouts/new",
        asset_id="{coin}",
        amount="0.1",
        destination="wallet:{wallet}",
        form_key="a" * 32,
    ),
    api(T.BANK_PAYOUT, "POST", "payouts", TO_BANK),
    api(T.PAYOUT_RETRY, "POST", "payouts/{payout}/retry"),
    page(T.PAYOUT_RETRY, "payouts/{payout}/retry"),
    page(T.PAYOUT_GIVE_UP, "payouts/{payout}/give-up"),
    page(T.PAYOUT_APPROVE, "approvals/{approval}/approve", agreed="{agreed}"),
    page(T.PAYOUT_REJECT, "approvals/{approval}/reject", reason="No"),
    page(T.BATCH_RELEASE, "payouts/batches/{batch}", agreed="{digest}"),
    page(T.BATCH_DISCARD, "payouts/batches/{batch}/discard"),
    api(T.REFUND, "POST", "payments/{payment}/refunds", {}),
    Line(T.REFUND, "agent", "agentic/payments/{unknown}/refunds", "POST", {}),
    Line(
        T.LATE_DEPOSIT, "page", "payments/{ended}/late-deposits/{deposit}", "POST", {}, ("test",)
    ),  # no live coins are held here
    page(T.TRANSFER_ACCEPT, "transfers/{transfer}/accept", reference="{reference}"),
    page(T.TRANSFER_RETURN, "transfers/{other_transfer}/return"),
    api(T.SWAP, "POST", "balance_swaps", SOLD),
    Line(
        T.SWAP, "page", "swaps/new", "POST", SWAP_PAGE, ("test",)
    ),  # nobody estimates a live one here
    Line(T.PAYOUT, "agent", "agentic/payouts", "POST", TO_WALLET),
    Line(T.MANDATE, "agent", "agentic/mandates", "POST", {}),
    Line(T.SETTLEMENT, "agent", "agentic/x402/settlements", "POST", {}),
    page(T.MANDATE_REVOKE, "agents/mandates/{mandate}/revoke"),
    page(T.DESTINATION_ADD, "payouts/destinations/wallet", network="{network}", address=OTHER),
    page(T.DESTINATION_ADD, "payouts/destinations/bank", **BANK),
    page(T.DESTINATION_REMOVE, "payouts/destinations/{wallet}/remove"),
    api(T.SCHEDULE_CREATE, "POST", "payout_schedules", SCHEDULED),
    page(
        T.SCHEDULE_CREATE,
        "payouts/schedules/new",
        asset_id="{dollars}",
        frequency="weekly",
        destination="wallet:{wallet}",
    ),
    api(
        T.SCHEDULE_CHANGE,
        "PATCH",
        "payout_schedules/{schedule}",
        {"payout_schedule": {"frequency": "daily"}},
    ),
    page(T.SCHEDULE_CHANGE, "payouts/schedules/{schedule}/change", frequency="daily"),
    api(
        T.SCHEDULE_PAUSE,
        "PATCH",
        "payout_schedules/{schedule}",
        {"payout_schedule": {"active": False}},
    ),
    page(T.SCHEDULE_PAUSE, "payouts/schedules/{schedule}/switch", to="paused"),
    api(
        T.SCHEDULE_RESUME,
        "PATCH",
        "payout_schedules/{schedule}",
        {"payout_schedule": {"active": True}},
    ),
    page(T.SCHEDULE_RESUME, "payouts/schedules/{schedule}/switch", to="active"),
    api(T.SCHEDULE_RUN, "POST", "payout_schedules/{schedule}/run"),
    page(T.SCHEDULE_RUN, "payouts/schedules/{schedule}/run"),
    api(T.SCHEDULE_DELETE, "DELETE", "payout_schedules/{schedule}"),
    page(T.SCHEDULE_DELETE, "payouts/schedules/{schedule}/delete"),
    page(T.AUTO_SWAP, "settings/auto-swap", target_asset_id="{dollars}"),
    page(T.AUTO_SWAP_STOP, "settings/auto-swap", target_asset_id=""),
    page(T.COOLING_CHANGE, "settings/cooling", hours="48"),
    page(T.APPROVAL_CHANGE, "settings/approvals", above="100"),
    page(T.AGENT_CAPS, "agents/{agent}/caps"),
    api(T.CREDENTIALS_SEE, "GET", "api_keys"),
    api(T.CREDENTIALS_SEE, "GET", "merchants/oauth_apps"),
    api(T.KEY_CREATE, "POST", "api_keys", key_of("payments:read")),
    page(T.KEY_CREATE, "api-keys/new", name="Till", key_type="secret", scopes="payments:read"),
    api(T.GUARDED_KEY_CREATE, "POST", "api_keys", key_of("webhooks:write")),
    page(
        T.GUARDED_KEY_CREATE,
        "api-keys/new",
        name="Till",
        key_type="secret",
        scopes="webhooks:write",
    ),
    api(T.KEY_REVOKE, "DELETE", "api_keys/{key}"),
    page(T.KEY_REVOKE, "api-keys/{key}/revoke"),
    page(T.AGENT_CREATE, "agents/new", name="Bot", scopes="payments:read"),
    page(T.GUARDED_AGENT_CREATE, "agents/new", name="Bot", scopes="x402:write"),
    page(T.AGENT_REVOKE, "agents/{agent}/revoke"),
    api(T.APP_CREATE, "POST", "merchants/oauth_apps", APP),
    page(
        T.APP_CREATE,
        "apps/own/new",
        name="Books",
        redirect_uris=BACK,
        scopes="payments:read",
        kind="public",
    ),
    api(
        T.APP_CHANGE,
        "PATCH",
        "merchants/oauth_apps/{app}",
        {"oauth_application": {"name": "Other"}},
    ),
    page(T.APP_CHANGE, "apps/own/{app}", name="Other", redirect_uris=BACK, scopes="payments:read"),
    api(T.APP_ROTATE, "POST", "merchants/oauth_apps/{app}/rotate_secret"),
    page(T.APP_ROTATE, "apps/own/{app}/secret"),
    api(T.APP_DEACTIVATE, "DELETE", "merchants/oauth_apps/{app}"),
    page(T.APP_DEACTIVATE, "apps/own/{app}/deactivate"),
    api(T.GRANT, "POST", "oauth/authorize", {**CONSENT, "scope": "payments:read"}),
    api(T.GUARDED_GRANT, "POST", "oauth/authorize", {**CONSENT, "scope": "agents:write"}),
    page(T.GRANT_REVOKE, "apps/granted/{family}/revoke"),
    page(T.TAKE_OVER, "api-keys/{lost}/take-over"),
    api(T.HOOK_CREATE, "POST", "webhook_endpoints", HOOK),
    page(
        T.HOOK_CREATE,
        "webhooks/new",
        url="https://1.1.1.1/other",
        subscribed_events="payment_intent.completed",
    ),
    api(
        T.HOOK_CHANGE,
        "PATCH",
        "webhook_endpoints/{hook}",
        {"webhook_endpoint": {"description": "Other"}},
    ),
    api(T.HOOK_ROTATE, "POST", "webhook_endpoints/{hook}/rotate_secret"),
    page(T.HOOK_ROTATE, "webhooks/{hook}/secret"),
    api(T.HOOK_SWITCH, "PATCH", "webhook_endpoints/{hook}/disable"),
    api(T.HOOK_SWITCH, "PATCH", "webhook_endpoints/{hook}/enable"),
    page(T.HOOK_SWITCH, "webhooks/{hook}/switch", to="disabled"),
    api(T.HOOK_DELETE, "DELETE", "webhook_endpoints/{hook}"),
    page(T.HOOK_DELETE, "webhooks/{hook}/delete"),
    api(T.LINK_CREATE, "POST", "platform/accounts/{account}/onboarding_links", {}),
    page(T.LINK_CREATE, "platform/accounts/{account}/link"),
    api(T.ACCOUNT_CLOSE, "DELETE", "platform/accounts/{account}"),
    page(T.ACCOUNT_CLOSE, "platform/accounts/{account}/close"),
    page(T.INVITE, "team/invite", email="dora@example.com", role="viewer"),
    page(T.INVITE, "team/invitations/{invitation}/resend"),
    page(T.INVITE_REVOKE, "team/invitations/{invitation}/revoke"),
    page(T.ROLE_CHANGE, "team/{colleague}/role", role="viewer"),
    page(T.MEMBER_REMOVE, "team/{colleague}/remove"),
    page(T.HAND_OVER, "team/{colleague}/owner"),
)
# Rows that no store's member and no credential of this store asks for at these doors, each with the
# test that has it.
APART = {
    T.ACT_FOR: "tests/platforms/test_acting.py",
    T.APP_AGENT: "tests/contract/test_oauth.py",
    T.FACTOR_ENROLL: "tests/dashboard/test_sign_in.py",
    T.FACTOR_REMOVE: "tests/dashboard/test_sign_in.py",
    T.STORE_CLOSE: "tests/platforms/test_store_closing.py",
}
# What belongs to both modes: as live as the most that it reaches, and the app here was let into
# live mode.
OF_BOTH_MODES = {T.APP_CHANGE, T.APP_ROTATE}


def test_every_row_is_asked_for_or_has_a_test_of_its_own() -> None:
    assert {line.row for line in LINES} | set(APART) == set(TABLE)
    assert not {line.row for line in LINES} & set(APART)


# --- the world ---


@dataclass
class World:
    """A store that has one of everything in both modes."""

    cast: Cast
    store: Store
    names: dict[str, dict[str, Any]]  # mode -> name -> id
    people: dict[tuple[str, bool], User]  # role, whether they have a second factor

    def fill(self, given: Any, mode: str) -> Any:
        if isinstance(given, str):
            return given.format(**self.names[mode]) if "{" in given else given
        if isinstance(given, dict):
            return {name: self.fill(value, mode) for name, value in given.items()}
        return [self.fill(one, mode) for one in given] if isinstance(given, list) else given


def waiting(api: Api, coin: str) -> PayoutApproval:
    """What waits for a second person, in a store whose other payouts need none."""
    store = Store.objects.get(name="Alice's Bakery")
    rule = ApprovalRule.objects.create(
        store=store,
        mode="test" if coin == "SETH" else "live",
        currency="EUR",
        above_cents=0,
        created_at=clock.real_now(),
        changed_at=clock.real_now(),
    )
    make.payout(api, 10**16, asset_id=coin)
    rule.delete()
    OutgoingMail.objects.all().delete()  # of what waits
    return PayoutApproval.objects.select_related("store").get(mode=rule.mode)


def of_mode(cast: Cast, mode: str) -> dict[str, Any]:
    shop = cast.bakery
    at = clock.real_now()
    store = shop.store
    coin = COIN[mode]
    here = {"store": store, "mode": mode, "created_at": at}
    make.store_coins(store, coin, 10**18)
    held = waiting(getattr(shop, mode), coin)
    viewer = person("victor")
    Member.objects.create(store=store, user=viewer, role=Role.VIEWER, created_at=at)
    lost = create_api_key(store, mode, scope_names=["payouts:write"])[0]
    ApiKey.objects.filter(pk=lost.pk).update(user=viewer)
    payout = Payout.objects.create(
        **here,
        updated_at=at,
        rail="crypto",
        asset_id=coin,
        amount_atomic=1,
        destination_address=OTHER.lower(),
        status="failed",
        is_outcome_unknown=True,
        idempotency_key="world",
    )
    schedule = Schedule.objects.create(
        **here,
        updated_at=at,
        asset_id=coin,
        frequency="weekly",
        destination_address=OTHER.lower(),
        minimum_fiat_currency="USD",
        next_payout_at=at + timedelta(days=7),
        anchor_day=1,
    )
    raw = f"asset_id,amount,destination\n{coin},0.1,{ADDRESS}\n".encode()
    batch = open_batch(
        shop.access(mode), store, cast.alice, filename="a.csv", raw=raw, form_key=mode * 8
    )
    agent = create_agent_credential(store, mode)[0]
    mandate = Mandate.objects.create(
        **here,
        updated_at=at,
        credential=agent,
        asset_id=coin,
        mandate_ref="books",
        scope="x402",
        total_cap_atomic=1,
        authorization_provider="policy",
        expires_at=at + timedelta(days=1),
    )
    ended = make.payment(getattr(shop, mode))["id"]
    deposit = make.late_deposit(ended)
    stray, other_stray = (make.payment(getattr(shop, mode)) for _ in range(2))
    hook = register_endpoint(
        shop.access(mode),
        EndpointRequest(url="https://1.1.1.1/hook", subscribed_events=["payment_intent.completed"]),
    )
    return {
        "mode": mode,
        "is_live": str(mode == "live").lower(),
        "coin": coin,
        "dollars": DOLLARS[mode],
        "network": NETWORK[mode],
        "unknown": str(uuid.uuid4()),
        "payout": payout.pk,
        "schedule": schedule.pk,
        "batch": batch.pk,
        "digest": batch.digest,
        "transfer": make.stray_transfer(stray["id"], DOLLARS[mode]),
        "reference": stray["reference"],
        "other_transfer": make.stray_transfer(other_stray["id"], DOLLARS[mode]),
        "payment": make.payment(getattr(shop, mode))["id"],
        "ended": ended,
        "deposit": deposit,
        "mandate": mandate.pk,
        "agent": agent.pk,
        "wallet": add_wallet(store, mode, NETWORK[mode], make.fresh_address()).pk,
        "key": create_api_key(store, mode, scope_names=["payments:read"])[0].pk,
        "lost": lost.pk,
        "hook": hook.endpoint.pk,
        "store": str(store.pk),
        "approval": held.pk,
        "agreed": digest_of(held),
    }


def token_of(user: User, store: Store, mode: str, app: App, scope: str) -> tuple[str, uuid.UUID]:
    """What an app holds that somebody let in."""
    token = credentials.mint(credentials.OAUTH_ACCESS_PREFIX)
    family = uuid.uuid4()
    AccessToken.objects.create(
        application_id=app.id,
        user=user,
        store=store,
        mode=mode,
        token=token,
        token_checksum=checksum(token),
        scope=scope,
        expires=clock.real_now() + timedelta(hours=1),
        token_family=family,
    )
    return token, family


def one_of_everything() -> World:
    cast = assemble()
    store = cast.bakery.store
    at = clock.real_now()
    for number, pk in enumerate(("ETH_USDC", "USDC_SETH"), 1):
        Asset.objects.filter(pk=pk).update(contract_address=f"0x{number:040x}", is_active=True)
    Store.objects.filter(pk=store.pk).update(is_platform=True, authorization_provider="policy")
    store.refresh_from_db()
    app = App(cast)
    people: dict[tuple[str, bool], User] = {}
    for role in Role.values:
        for has_factor in (False, True):
            user = people[role, has_factor] = person(role)
            Member.objects.create(store=store, user=user, role=role, created_at=at)
            if has_factor:
                second_factor.switch_on(user, SECRET)
    colleague = person("colleague")
    Member.objects.create(store=store, user=colleague, role=Role.DEVELOPER, created_at=at)
    invitation = Invitation.objects.create(
        store=store,
        email="eve@example.com",
        role=Role.VIEWER,
        invited_by=cast.alice,
        token_hash=b"x" * 32,
        created_at=at,
        sent_at=at - timedelta(hours=1),
        expires_at=at + timedelta(days=1),
    )
    account = Store.objects.create(name="Corner", created_at=at, platform=store)
    names = {}
    for mode in ("test", "live"):
        _, family = token_of(cast.alice, store, mode, app, "payments:read")
        shared = {
            "app": app.id,
            "client": app.client_id,
            "invitation": invitation.pk,
            "colleague": colleague.pk,
            "account": account.pk,
        }
        names[mode] = {**of_mode(cast, mode), **shared, "family": family}
    return World(cast, store, names, people)


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    yield from standing(django_db_blocker, one_of_everything)


@pytest.fixture
def world(made: World, db: None) -> World:
    return made


# --- asking ---


def outcome(answer: Any) -> str:
    """The refusal of rights that came back, or that it went past them."""
    if answer.status_code in (301, 302, 303):
        where = answer["Location"]
        if "/dashboard/confirm?" in where:
            return "otp_required"
        if "/dashboard/sign-in" in where:
            return "authentication_required"
        told = " ".join(str(one) for one in get_messages(answer.wsgi_request))
        return "mfa_required" if "Set up two-factor authentication first" in told else "passed"
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        shown = text(answer)
        if "Set up two-factor authentication first" in shown:
            return "mfa_required"
        if answer.status_code == 403:
            return "role_forbidden"
        return "otp_required" if answer.context and answer.context.get("asks_code") else "passed"
    error = (
        answer.json().get("error") if answer.content and isinstance(answer.json(), dict) else None
    )
    code = error.get("code") if isinstance(error, dict) else error
    if code == "invalid_scope" or (
        code == "invalid_request" and "must be a store of yours" in str(answer.json())
    ):
        return "role_forbidden"
    return code if code in REFUSALS else "passed"


def ask(world: World, line: Line, mode: str, client: Client, **headers: str) -> str:
    """One attempt, of which nothing stays."""
    buckets.client().flushdb()
    client.cookies.pop("messages", None)  # of the attempt before
    path = world.fill(line.path, mode)
    body = world.fill(line.body, mode)
    with transaction.atomic():
        if line.door == "page":
            answer = client.post(f"/dashboard/{path}", body or {})
        else:
            sent = {**headers, **({"Idempotency-Key": "one"} if line.method == "POST" else {})}
            options = {} if body is None else {"data": body, "content_type": "application/json"}
            answer = getattr(client, line.method.lower())(
                f"/api/v2/{path}", headers=sent, **options
            )
        transaction.set_rollback(True)
    return outcome(answer)


def signed_in(world: World, user: User, mode: str, *, is_recent: bool) -> Client:
    browser = Browser(user)
    session = browser.client.session
    session[sessions.STORE_KEY] = str(world.store.pk)
    session[sessions.MODE_KEY] = mode
    if is_recent:
        session[sessions.PROOF_KEY] = {
            "at": clock.real_now().isoformat(),
            "store_id": str(world.store.pk),
        }
    session.save()
    return browser.client


def reasons(row: Operation, role: str, factor: str, mode: str) -> set[str]:
    """What may be said to this person; nothing: they go past."""
    found = set()
    if not row.permission or not roles.may(role, row.permission):
        found |= {"role_forbidden", "insufficient_scope", "credential_forbidden"}
    is_live = mode == "live" or not row.has_mode or row in OF_BOTH_MODES
    if factor == "none":
        if row.factor == ALWAYS or (row.factor == LIVE and is_live):
            found.add("mfa_required")
    elif row.code and not (factor == "recent" and row.code != ACT):
        found.add("otp_required")
    return found


def agrees(got: str, allowed: set[str]) -> bool:
    return got in allowed if allowed else got == "passed"


def groups(*doors: str) -> list[list[Line]]:
    """The lines by the noun of their row: a world is made once for each."""
    found: dict[str, list[Line]] = {}
    for line in LINES:
        if line.door in doors:
            found.setdefault(line.row.name.partition(".")[0], []).append(line)
    return list(found.values())


def named(lines: list[Line]) -> str:
    return lines[0].row.name.partition(".")[0]


def told(line: Line, *how: object) -> str:
    return f"{line.row.name} at {line.door} {line.method} {line.path}: {', '.join(map(str, how))}"


def is_asked(line: Line, mode: str, role: str, factor: str) -> bool:
    """Each role asks for each line once, and an owner in each mode with each factor: role and
    factor are asked about one after the other, and only the whole suite crosses them."""
    if mode not in line.modes:
        return False
    return IS_WHOLE or role == Role.OWNER or (mode, factor) == (line.modes[-1], "recent")


@pytest.mark.parametrize("lines", groups("api", "page"), ids=named)
def test_a_person_may_what_the_table_says(world: World, lines: list[Line]) -> None:
    wrong = []
    for mode, role, factor in itertools.product(("test", "live"), Role.values, FACTORS):
        asked = [one for one in lines if is_asked(one, mode, role, factor)]
        if not asked:
            continue
        client = signed_in(
            world, world.people[role, factor != "none"], mode, is_recent=factor == "recent"
        )
        for line in asked:
            got = ask(world, line, mode, client)
            allowed = reasons(line.row, role, factor, mode)
            if not agrees(got, allowed):
                wrong.append(told(line, mode, role, factor, got, allowed))
    nobody = [
        told(line)
        for line in lines
        if ask(world, line, "test", Client()) not in ("authentication_required", "login_required")
    ]
    assert not wrong + nobody, "\n".join(wrong + nobody)


@pytest.mark.parametrize("lines", groups("api"), ids=named)
def test_a_credential_may_what_its_scope_says_and_nothing_that_people_do(
    world: World, lines: list[Line]
) -> None:
    keys = {scope: create_api_key(world.store, "test", scope_names=[scope])[1] for scope in ALL}
    keys[""] = create_api_key(world.store, "test", scope_names=[])[1]
    agent = create_agent_credential(world.store, "test")[1]
    live = create_api_key(world.store, "live", scope_names=ALL)[1]
    wrong = []
    for line in lines:
        for scope, secret in keys.items():
            is_right = line.row.key == ANY_SCOPE or (scope and line.row.key == scope)
            got = ask(world, line, "test", Client(), Authorization=f"Bearer {secret}")
            if not agrees(got, set() if is_right else NOT_YOURS):
                wrong.append(told(line, scope, got))
        if (ask(world, line, "live", Client(), Authorization=f"Bearer {live}") == "passed") != (
            line.row.key is not None
        ):
            wrong.append(told(line, "live"))
        if ask(world, line, "test", Client(), Authorization=f"Bearer {agent}") not in (
            "invalid_api_key",
            "login_required",
        ):
            wrong.append(told(line, "an agent"))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("lines", groups("api"), ids=named)
def test_an_app_and_a_platform_may_what_the_table_says(world: World, lines: list[Line]) -> None:
    app = App(world.cast)
    wrong = []
    acting = {
        "Authorization": f"Bearer {create_api_key(world.store, 'test', scope_names=ALL)[1]}",
        "X-Service-Account": str(world.names["test"]["account"]),
    }
    tokens = {
        role: token_of(world.people[role, False], world.store, "test", app, " ".join(ALL))[0]
        for role in Role.values
    }
    for line in lines:
        for role, token in tokens.items():
            is_right = line.row.key is not None and roles.may(role, line.row.permission)
            got = ask(world, line, "test", Client(), Authorization=f"Bearer {token}")
            if not agrees(got, set() if is_right else NOT_YOURS):
                wrong.append(told(line, role, got))
        got = ask(world, line, "test", Client(), **acting)
        if not agrees(got, set() if line.row.for_platforms else NOT_YOURS):
            wrong.append(told(line, "acting", got))
    assert not wrong, "\n".join(wrong)


def test_an_agent_may_what_its_scope_says(world: World) -> None:
    wrong = []
    agents = {
        scope: create_agent_credential(world.store, "test", scope_names=[scope])[1]
        for scope in AGENT
    }
    for line, scope in itertools.product([one for one in LINES if one.door == "agent"], AGENT):
        got = ask(world, line, "test", Client(), Authorization=f"Bearer {agents[scope]}")
        if not agrees(got, set() if line.row.agent == scope else {"insufficient_scope"}):
            wrong.append(told(line, scope, got))
    assert not wrong, "\n".join(wrong)
