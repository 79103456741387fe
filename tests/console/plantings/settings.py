"""Changes of the settings that decide about money, past the audit log.

Each with the invariant that must name it.
"""

from decimal import Decimal

from apps.access.members.team import change_role
from apps.access.services import (
    create_agent_credential,
    create_api_key,
    revoke_agent_credential,
    revoke_api_key,
)
from apps.agents.services.payouts import set_cap
from apps.assets.models import Asset
from apps.assets.services import change_asset, set_accepted
from apps.core import clock
from apps.payouts.services.caps import set_store_cap
from apps.payouts.services.destinations import add_wallet
from apps.platforms.requests import AccountChanges
from apps.platforms.services.accounts import update_account
from apps.stores.models import Member, Role, Store
from apps.stores.services import change_store
from apps.swaps.services.auto import set_auto_swap
from tests import make
from tests.cast import Shop, signed_in
from tests.console.plantings.rows import DEPOSIT, ELSEWHERE, again
from tests.console.plantings.ways_in import joined

LARGE = 10**24
INVARIANT = "settings_logged"
_STATEMENTS = {
    "service fee": "UPDATE stores_store SET fee_fraction = 0 WHERE id = '{store}'",
    "platform's fee": (
        "UPDATE stores_store SET platform_fee_fraction = platform_fee_fraction + 0.01 WHERE id ="
        " '{store}'"
    ),
    "platform of a store": "UPDATE stores_store SET platform_id = NULL WHERE id = '{store}'",
    "who bears the fee": (
        "UPDATE stores_store SET customer_pays_fee = NOT customer_pays_fee WHERE id = '{store}'"
    ),
    "tolerance of underpayments": (
        "UPDATE stores_store SET underpayment_tolerance_bps = 9000 WHERE id = '{store}'"
    ),
    "above what payouts are reviewed": (
        "UPDATE payouts_payoutsettings SET payout_review_threshold_cents = NULL WHERE store_id ="
        " '{store}'"
    ),
    "settings of payouts deleted": "DELETE FROM payouts_payoutsettings WHERE store_id = '{store}'",
    "payments of agents sent on the chain": (
        "UPDATE agents_agentsettings SET x402_dispatch = NOT x402_dispatch WHERE store_id ="
        " '{store}'"
    ),
    "store's payout cap": (
        "UPDATE payouts_storepayoutcap SET daily_atomic = daily_atomic * 10 WHERE store_id ="
        " '{store}'"
    ),
    "store's payout cap deleted": ("DELETE FROM payouts_storepayoutcap WHERE store_id = '{store}'"),
    "agent's cap": "UPDATE agents_agentpayoutcap SET per_tx_atomic = per_tx_atomic + 1",
    "agent's cap deleted": "DELETE FROM agents_agentpayoutcap",
    "what a second person approves": (
        "UPDATE payouts_approvalrule SET above_cents = 1000000 WHERE store_id = '{store}'"
    ),
    "approval rule deleted": "DELETE FROM payouts_approvalrule WHERE store_id = '{store}'",
    "schedule's destination": (
        f"UPDATE payouts_schedule SET destination_address = '{ELSEWHERE}' WHERE store_id ="
        " '{store}'"
    ),
    "schedule's frequency": (
        "UPDATE payouts_schedule SET frequency = 'daily' WHERE store_id = '{store}'"
    ),
    "link's price": (
        "UPDATE links_paymentlink SET amount_cents = amount_cents - 1 WHERE store_id = '{store}'"
        " AND amount_cents IS NOT NULL"
    ),
    "link's stock raised": (
        "UPDATE links_paymentlink SET stock = stock + 1 WHERE store_id = '{store}'"
        " AND stock IS NOT NULL"
    ),
    "role of a member": (
        "UPDATE stores_member SET role = 'owner' WHERE store_id = '{store}' AND role = 'developer'"
    ),
    "target of automatic swaps": (
        "UPDATE swaps_autoswap SET target_asset_id = 'USDT_SETH' WHERE store_id = '{store}'"
    ),
    "token's contract": (
        f"UPDATE assets_asset SET contract_address = '{ELSEWHERE}' WHERE id = 'USDT_SETH'"
    ),
    "chain's confirmations": (
        "UPDATE assets_chain SET required_confirmations = 1 WHERE id = 'sepolia'"
    ),
    "when a destination can be used": (
        "UPDATE payouts_destination SET usable_from = usable_from - interval '1 day' WHERE"
        " usable_from IS NOT NULL"
    ),
    "destination that waits for nothing": (
        "UPDATE payouts_destination SET usable_from = NULL WHERE usable_from IS NOT NULL"
    ),
    "until when a destination is new": (
        "UPDATE payouts_destination SET cools_until = cools_until - interval '23 hours'"
    ),
    "when a schedule may begin": (
        "UPDATE payouts_schedule SET usable_from = now() - interval '1 day' WHERE store_id ="
        " '{store}'"
    ),
    "schedule that was paused goes on": (
        "UPDATE payouts_schedule SET is_active = NOT is_active WHERE store_id = '{store}'"
    ),
    "worth of an approval that waits": (
        "UPDATE payouts_payoutapproval SET worth_cents = worth_cents - 1"
    ),
    "above what an approval was asked": (
        "UPDATE payouts_payoutapproval SET above_cents = above_cents + 1"
    ),
    "until when an approval waits": (
        "UPDATE payouts_payoutapproval SET expires_at = expires_at + interval '1 day'"
    ),
    "secret of a key": (
        "UPDATE access_apikey SET secret_hash = sha256('mine') WHERE id = (SELECT id FROM"
        " access_apikey WHERE store_id = '{store}' LIMIT 1)"
    ),
    "secret of an agent": (
        "UPDATE access_agentcredential SET secret_hash = sha256('mine') WHERE id = (SELECT id FROM"
        " access_agentcredential WHERE store_id = '{store}' LIMIT 1)"
    ),
    "whose a key is": (
        "UPDATE access_apikey SET user_id = (SELECT id FROM stores_user u WHERE u.id NOT IN (SELECT"
        " user_id FROM access_apikey WHERE user_id IS NOT NULL) LIMIT 1) WHERE store_id = '{store}'"
    ),
    "from when a key sends anywhere": (
        "UPDATE access_apikey SET sends_anywhere_from = NULL WHERE sends_anywhere_from IS NOT NULL"
    ),
    "from when an agent sends anywhere": (
        "UPDATE access_agentcredential SET sends_anywhere_from = sends_anywhere_from - interval"
        " '1 day' WHERE sends_anywhere_from IS NOT NULL"
    ),
    "where an endpoint is told": (
        "UPDATE webhooks_endpoint SET url = 'https://9.9.9.9/hook' WHERE store_id = '{store}'"
    ),
    "what an endpoint is told": (
        "UPDATE webhooks_endpoint SET subscribed_events = ARRAY['payment_intent.failed'] WHERE"
        " store_id = '{store}'"
    ),
    "business no longer verified": (
        "UPDATE stores_store SET kyc_confirmed_at = NULL WHERE id = '{store}'"
    ),
}
_REVOKED = "(SELECT target_id FROM stores_auditentry WHERE action = '{action}' LIMIT 1)::uuid"
_OTHERS = {
    "revoked key that works again": (
        "UPDATE access_apikey SET revoked_at = NULL WHERE id = "
        + _REVOKED.replace("{action}", "api_key.revoked"),
        "credentials_logged",
    ),
    "revoked agent that works again": (
        "UPDATE access_agentcredential SET revoked_at = NULL WHERE id = "
        + _REVOKED.replace("{action}", "agent_credential.revoked"),
        "credentials_logged",
    ),
    "scopes of a key": (
        "UPDATE access_apikey SET scopes = ARRAY['payouts:write'] WHERE store_id = '{store}'",
        "credentials_logged",
    ),
    "scopes of an agent": (
        "UPDATE access_agentcredential SET scopes = scopes || ARRAY['refunds:write']::varchar[]"
        " WHERE store_id = '{store}'",
        "credentials_logged",
    ),
    "kind of a key": (
        "UPDATE access_apikey SET key_type = 'publishable' WHERE store_id = '{store}'",
        "credentials_logged",
    ),
    "key that nobody made": (
        again(
            "access_apikey",
            "id = (SELECT id FROM access_apikey WHERE store_id = '{store}' LIMIT 1)",
            id="gen_random_uuid()",
            secret_hash="repeat('ab', 32)",
        ),
        "credentials_logged",
    ),
    "owner who opened the store made a viewer": (
        "UPDATE stores_member SET role = 'viewer' WHERE store_id = '{store}' AND role = 'owner'",
        "founders_own",
    ),
    "owner who opened the store deleted": (
        "DELETE FROM stores_member WHERE store_id = '{store}' AND role = 'owner'",
        "founders_own",
    ),
    "coin no longer accepted": (
        "DELETE FROM assets_acceptedasset WHERE store_id = '{store}' AND mode = 'test' AND asset_id"
        " = 'SETH'",
        "accepted_assets_logged",
    ),
    "coin accepted that was turned off": (
        again(
            "assets_acceptedasset",
            "store_id = '{store}' AND asset_id = 'ETH'",
            id="gen_random_uuid()",
            asset_id="'ETH_USDC'",
        ),
        "accepted_assets_logged",
    ),
    "coin stopped for no deposit": (
        "UPDATE assets_acceptedasset SET suspended_at = now() WHERE store_id = '{store}' AND"
        " asset_id = 'SETH'",
        "accepted_assets_logged",
    ),
    "coin accepted of which a deposit was lost": (
        "UPDATE chain_deposit SET status = 'failed', is_lost = true, failed_at = now() - interval"
        f" '1 day' WHERE id = {DEPOSIT}",
        "accepted_assets_logged",
    ),
    "business verified by nobody": (
        "UPDATE stores_store SET kyc_confirmed_at = now() + interval '1 day' WHERE id <> '{store}'",
        "businesses_verified",
    ),
    "raised fee that holds at once": (
        "UPDATE stores_store SET platform_fee_from = NULL WHERE platform_id IS NOT NULL AND"
        " platform_fee_from IS NOT NULL",
        "raised_fees_wait",
    ),
    "raised fee that holds earlier": (
        "UPDATE stores_store SET platform_fee_from = platform_fee_from - interval '10 days' WHERE"
        " platform_fee_from IS NOT NULL",
        "raised_fees_wait",
    ),
    "endpoint turned off": (
        "UPDATE webhooks_endpoint SET status = 'disabled' WHERE store_id = '{store}'",
        "endpoints_logged",
    ),
    "endpoint deleted by nobody": (
        "UPDATE webhooks_endpoint SET deleted_at = now() WHERE store_id = '{store}'",
        "endpoints_logged",
    ),
}
SETTINGS = {name: (statement, INVARIANT) for name, statement in _STATEMENTS.items()} | _OTHERS


def decide(shop: Shop) -> None:
    """Settings that somebody has changed, each with its line in the audit log."""
    change_store(
        shop.store,
        fee_fraction=Decimal("0.02"),
        underpayment_tolerance_bps=60,
        customer_pays_fee=not shop.store.customer_pays_fee,
        payout_review_threshold_cents=10**9,
        x402_dispatch=True,
    )
    set_store_cap(shop.store, "SETH", per_tx_atomic=LARGE, daily_atomic=LARGE)
    set_cap(shop.agent(), Asset.objects.get(pk="SETH"), LARGE, None)
    body = {
        "asset_id": "SETH",
        "frequency": "weekly",
        "destination_address": make.fresh_address(),
        "minimum_fiat_cents": 1000,
    }
    answer = shop.test.post("/payout_schedules", {"payout_schedule": body})
    assert answer.status_code == 201
    set_auto_swap(shop.owner_access(), "USDC_SETH")
    member = joined(shop, "dora")
    change_role(shop.owner_access(), member, Role.DEVELOPER)
    confirmations = Asset.objects.get(pk="USDT_SETH").chain.required_confirmations
    change_asset(
        "USDT_SETH",
        contract_address="0x" + "5b" * 20,
        required_confirmations=confirmations + 1,
    )
    at = clock.real_now()
    revoke_api_key(create_api_key(shop.store, "test")[0], at)
    revoke_agent_credential(create_agent_credential(shop.store, "test")[0], at)
    set_accepted(shop.owner_access("live"), "ETH_USDC", is_accepted=False)
    _raise_fee(shop)
    _wait(shop)


def _wait(shop: Shop) -> None:
    """Settings that the owner has made in live mode can't be used for two days."""
    owner = shop.owner_access("live")
    create_api_key(shop.store, "live", by=owner)
    create_agent_credential(shop.store, "live", by=owner)
    add_wallet(shop.store, "live", "ethereum", make.fresh_address(), by=owner)


def _raise_fee(shop: Shop) -> None:
    """Of the platform of the store, on the store."""
    platform = shop.store.platform
    assert platform is not None
    owner = Member.objects.get(store=platform, role=Role.OWNER).user
    access = signed_in(owner, platform, "live")
    changes = AccountChanges(platform_fee_percentage="0.03")
    update_account(access, Store.objects.get(pk=shop.store.pk), changes)
