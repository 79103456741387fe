"""THE table of sensitive acts, by page: what the page that asks for a fresh code says it is asked
for."""

from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme

# name of the page: what the person is about to do
ACTS: dict[str, str] = {
    "refund": "Send a refund",
    "late_deposit": "Accept a late deposit",
    "payment_shortfall": "Accept an underpaid payment",
    "transfer_accept": "Accept an unmatched transfer",
    "transfer_return": "Return an unmatched transfer",
    "payout_create": "Pay out",
    "payout_batch": "Send a list of payouts",
    "approval_approve": "Approve a payout",
    "payout_retry": "Retry a failed payout",
    "payout_wallet_add": "Add a payout wallet",
    "payout_bank_add": "Add a payout bank account",
    "payout_schedule_create": "Add a payout schedule",
    "payout_schedule_change": "Edit a payout schedule",
    "payout_schedule_switch": "Turn on a payout schedule",
    "payout_schedule_run": "Run a payout schedule",
    "swap_create": "Swap a balance",
    "settings_auto_swap": "Change automatic swaps",
    "settings_approvals": "Change the payout approval rule",
    "settings_cooling": "Change the waiting period",
    "platform_link_create": "Create an onboarding link",
    "platform_account_close": "Close a sub-merchant’s account",
    "key_create": "Create an API key",
    "key_take_over": "Take over an API key",
    "agent_take_over": "Take over an agent",
    "agent_create": "Create an agent credential",
    "agent_caps": "Change an agent’s payout caps",
    "webhook_endpoint_create": "Add a webhook endpoint",
    "webhook_endpoint_delete": "Delete a webhook endpoint",
    "webhook_endpoint_rotate": "Replace a webhook signing secret",
    "security_take_off": "Remove your authenticator app",
    "security_codes": "Create new backup codes",
    "security_password": "Change your password",
    "security_close": "Close your account",
    "security_email": "Change your email address",
    "passkey_add": "Add a passkey",
    "passkey_remove": "Remove a passkey",
    "settings_domain_change": "Change your checkout domain",
    "settings_store_close": "Close this store",
    "member_invite": "Invite someone to the team",
    "invitation_resend": "Resend an invitation",
    "member_role": "Change a member’s role",
    "member_remove": "Remove a team member",
    "member_hand_over": "Transfer ownership",
    "oauth_app_create": "Add an app",
    "oauth_app": "Edit an app",
    "oauth_app_deactivate": "Deactivate an app",
    "oauth_app_rotate": "Replace an app’s client secret",
    "oauth_consent": "Authorize an app",
}
PERSONAL = (
    "security_take_off",
    "security_codes",
    "security_password",
    "security_email",
    "security_close",
    "passkey_add",
    "passkey_remove",
    "oauth_consent",  # for the store that is chosen there
)


def act_at(url: str) -> tuple[str, bool]:
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
