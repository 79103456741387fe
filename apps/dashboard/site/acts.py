"""THE table of sensitive acts, by page: what the page that asks for a fresh code says it is asked
for."""

from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_noop

# name of the page: what the person is about to do
ACTS: dict[str, str] = {
    "refund": gettext_noop("Send a refund"),
    "late_deposit": gettext_noop("Accept a late deposit"),
    "payment_shortfall": gettext_noop("Accept an underpaid payment"),
    "transfer_accept": gettext_noop("Accept an unmatched transfer"),
    "transfer_return": gettext_noop("Return an unmatched transfer"),
    "payout_create": gettext_noop("Pay out"),
    "payout_batch": gettext_noop("Send a list of payouts"),
    "approval_approve": gettext_noop("Approve a payout"),
    "payout_retry": gettext_noop("Retry a failed payout"),
    "payout_wallet_add": gettext_noop("Add a payout wallet"),
    "payout_bank_add": gettext_noop("Add a payout bank account"),
    "payout_schedule_create": gettext_noop("Add a payout schedule"),
    "payout_schedule_change": gettext_noop("Edit a payout schedule"),
    "payout_schedule_switch": gettext_noop("Turn on a payout schedule"),
    "payout_schedule_run": gettext_noop("Run a payout schedule"),
    "swap_create": gettext_noop("Swap a balance"),
    "settings_auto_swap": gettext_noop("Change automatic swaps"),
    "settings_approvals": gettext_noop("Change the payout approval rule"),
    "settings_waiting": gettext_noop("Change the waiting period"),
    "settings_wallet": gettext_noop("Change wallet"),
    "platform_link_create": gettext_noop("Create an onboarding link"),
    "platform_account_close": gettext_noop("Close a sub-merchant’s account"),
    "key_create": gettext_noop("Create an API key"),
    "key_pair": gettext_noop("Connect a shop"),
    "key_take_over": gettext_noop("Take over an API key"),
    "agent_take_over": gettext_noop("Take over an agent"),
    "agent_create": gettext_noop("Create an agent credential"),
    "agent_caps": gettext_noop("Change an agent’s payout caps"),
    "webhook_endpoint_create": gettext_noop("Add a webhook endpoint"),
    "webhook_endpoint_edit": gettext_noop("Change a webhook endpoint"),
    "webhook_endpoint_delete": gettext_noop("Delete a webhook endpoint"),
    "webhook_endpoint_rotate": gettext_noop("Replace a webhook signing secret"),
    "security_take_off": gettext_noop("Remove your authenticator app"),
    "security_codes": gettext_noop("Create new backup codes"),
    "security_password": gettext_noop("Change your password"),
    "security_close": gettext_noop("Close your account"),
    "security_email": gettext_noop("Change your email address"),
    "passkey_add": gettext_noop("Add a passkey"),
    "passkey_remove": gettext_noop("Remove a passkey"),
    "settings_domain_change": gettext_noop("Change your checkout domain"),
    "settings_btcpay": gettext_noop("Turn the BTCPay API on or off"),
    "settings_store_close": gettext_noop("Close this store"),
    "test_data": gettext_noop("Reset test data"),
    "member_invite": gettext_noop("Invite someone to the team"),
    "invitation_resend": gettext_noop("Resend an invitation"),
    "member_role": gettext_noop("Change a member’s role"),
    "member_remove": gettext_noop("Remove a team member"),
    "member_hand_over": gettext_noop("Transfer ownership"),
    "oauth_app_create": gettext_noop("Add an app"),
    "oauth_app": gettext_noop("Edit an app"),
    "oauth_app_deactivate": gettext_noop("Deactivate an app"),
    "oauth_app_rotate": gettext_noop("Replace an app’s client secret"),
    "oauth_consent": gettext_noop("Authorize an app"),
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
    """The act at the address, and whether it concerns the chosen store (else the person's
    account)."""
    name = page_of(url)
    return gettext(ACTS.get(name, "")), name not in PERSONAL


def page_of(url: str) -> str:
    """The name of the page at an address of ours; empty when there is none."""
    if not url_has_allowed_host_and_scheme(url, allowed_hosts=None):
        return ""
    try:
        return resolve(url.partition("?")[0].partition("#")[0]).url_name or ""
    except Resolver404:
        return ""
