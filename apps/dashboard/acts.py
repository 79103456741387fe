"""THE table of sensitive acts, by page: what the page that asks for a fresh code says it is asked
for."""

from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme

# name of the page: what the person is about to do
ACTS: dict[str, str] = {
    "refund": "Send a refund",
    "late_deposit": "Accept a late deposit",
    "transfer_accept": "Accept an unmatched transfer",
    "transfer_return": "Send an unmatched transfer back",
    "payout_create": "Pay out",
    "payout_batch": "Send a list of payouts",
    "approval_approve": "Approve a payout",
    "payout_retry": "Try a failed payout again",
    "payout_wallet_add": "Add a wallet that payouts can go to",
    "payout_bank_add": "Add a bank account that payouts can go to",
    "payout_schedule_create": "Add a payout schedule",
    "payout_schedule_change": "Change a payout schedule",
    "payout_schedule_switch": "Turn a payout schedule on",
    "payout_schedule_run": "Run a payout schedule",
    "swap_create": "Swap a balance",
    "settings_auto_swap": "Change the automatic swaps",
    "settings_approvals": "Choose which payouts need a second person",
    "settings_cooling": "Change how long what people name waits",
    "platform_link_create": "Make an onboarding link",
    "platform_account_close": "Close a sub-merchant's account",
    "key_create": "Create an API key",
    "key_take_over": "Take over an API key",
    "agent_take_over": "Take over an agent",
    "agent_create": "Create an agent's credential",
    "agent_caps": "Change what an agent may pay out",
    "webhook_endpoint_create": "Add a webhook endpoint",
    "webhook_endpoint_delete": "Delete a webhook endpoint",
    "webhook_endpoint_rotate": "Replace a webhook's signing secret",
    "security_take_off": "Remove your authenticator app",
    "security_codes": "Make new backup codes",
    "security_password": "Change your password",
    "security_close": "Close your account",
    "security_email": "Change your email address",
    "passkey_add": "Add a passkey",
    "passkey_remove": "Remove a passkey",
    "settings_domain_change": "Change the domain of your checkout",
    "settings_store_close": "Close the store",
    "member_invite": "Invite someone to the team",
    "member_role": "Change a member's role",
    "member_remove": "Remove a member",
    "member_hand_over": "Hand the ownership over",
    "oauth_app_create": "Add an app",
    "oauth_app": "Change an app",
    "oauth_app_deactivate": "Switch an app off",
    "oauth_app_rotate": "Replace an app's secret",
    "oauth_consent": "Let an app into your store",
}
PERSONAL = (
    "security_take_off",
    "security_codes",
    "security_password",
    "security_email",
    "security_close",
    "passkey_add",
    "passkey_remove",
)


def act_of(url: str) -> tuple[str, bool]:
    """What is done at the address, and whether it is done to the chosen store (else to the person's
    account)."""
    name = page_of(url)
    return ACTS.get(name, ""), name not in PERSONAL


def page_of(url: str) -> str:
    """The name of the page at an address of ours; empty when there is none."""
    if not url_has_allowed_host_and_scheme(url, allowed_hosts=None):
        return ""
    try:
        return resolve(url.partition("?")[0].partition("#")[0]).url_name or ""
    except Resolver404:
        return ""
