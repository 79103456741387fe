"""Every scope there is, and which a new credential has when none are named."""

from apps.core.text.wording import Worded

ACT = "accounts:act"
ACCOUNTS = ("accounts:read", "accounts:write", ACT)
MERCHANT = (
    "payments:read",
    "payments:write",
    "refunds:read",
    "refunds:write",
    "payouts:read",
    "payouts:write",
    "balances:read",
    "webhooks:read",
    "webhooks:write",
    "billing:read",
    "billing:write",
    "assets:read",
    "assets:write",
    "x402:read",
    "x402:write",
    "stores:read",
)
ALL = MERCHANT + ACCOUNTS
AGENT = (
    "payments:read",
    "payments:write",
    "payouts:read",
    "payouts:write",
    "assets:read",
    "assets:write",
    "x402:read",
    "x402:write",
)
PROFILE = "profile"
AGENTS = "agents:write"
OFFLINE = "offline_access"
OAUTH = (*ALL, PROFILE, AGENTS, OFFLINE)
DEFAULT = MERCHANT


def missing_message(scope: str) -> str:
    """Message to a caller without the scope."""
    if scope in ACCOUNTS:
        return Worded(
            "Insufficient scope: {scope} required; a key keeps the scopes it was made with, so"
            " create a new key",
            scope=scope,
        )
    return Worded("Insufficient scope: {scope} required", scope=scope)
