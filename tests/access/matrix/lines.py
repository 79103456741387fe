"""How each operation of the table is asked for through every door that has it."""

from dataclasses import dataclass
from typing import Any

from apps.access import operations
from apps.access.operations import Operation
from tests.contract.oauth.apps import BACK, CHALLENGE

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
OTHER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"


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
    api(T.SHORTFALL, "POST", "payments/{payment}/accept_shortfall"),
    page(T.SHORTFALL, "payments/{payment}/shortfall"),
    page(T.TRANSFER_ACCEPT, "transfers/{transfer}/accept", reference="{reference}"),
    api(
        T.TRANSFER_ACCEPT,
        "POST",
        "payments/{transfer_payment}/accept_transaction",
        {"tx_hash": "{transfer_hash}"},
    ),
    page(T.TRANSFER_RETURN, "transfers/{other_transfer}/return", destination_address=ADDRESS),
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
    page(T.WAITING_PERIOD_CHANGE, "settings/waiting", hours="48"),
    page(T.COMPATIBLE_APIS, "settings/btcpay", state="on"),
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
    page(T.TAKE_OVER, "agents/{lost_agent}/take-over"),
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
    page(
        T.HOOK_CHANGE,
        "webhooks/{hook}/edit",
        url="https://1.1.1.1/other",
        subscribed_events="payment_intent.completed",
    ),
    api(T.HOOK_ROTATE, "POST", "webhook_endpoints/{hook}/rotate_secret"),
    page(T.HOOK_ROTATE, "webhooks/{hook}/secret"),
    api(T.HOOK_SWITCH, "PATCH", "webhook_endpoints/{hook}/disable"),
    api(T.HOOK_SWITCH, "PATCH", "webhook_endpoints/{hook}/enable"),
    page(T.HOOK_SWITCH, "webhooks/{hook}/switch", to="disabled"),
    api(T.HOOK_DELETE, "DELETE", "webhook_endpoints/{hook}"),
    page(T.HOOK_DELETE, "webhooks/{hook}/delete"),
    api(T.LINK_CREATE, "POST", "platform/accounts/{account}/onboarding_links", {}),
    page(
        T.LINK_CREATE,
        "platform/accounts/{account}/link",
        purpose="kyb",
        return_url="https://shop.example",
        expires_in="86400",
    ),
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
    T.APP_AGENT: "tests/contract/oauth/test_apps.py",
    T.FACTOR_ENROLL: "tests/dashboard/test_sign_in.py",
    T.FACTOR_REMOVE: "tests/dashboard/test_sign_in.py",
    T.CODES_RENEW: "tests/access/test_own_codes.py",
    T.PASSKEY_ADD: "tests/dashboard/test_passkeys.py",
    T.PASSKEY_REMOVE: "tests/dashboard/test_passkeys.py",
    T.EMAIL_CHANGE: "tests/access/test_own_codes.py",
    T.WALLET_CHANGE: "tests/dashboard/test_own_wallets.py",
    T.STORE_CLOSE: "tests/platforms/test_store_closing.py",
    T.TEST_DATA_RESET: "tests/platforms/test_test_data.py",
}
# What belongs to both modes: as live as the most that it reaches, and the app here was let into
# live mode.
OF_BOTH_MODES = {T.APP_CHANGE, T.APP_ROTATE}
