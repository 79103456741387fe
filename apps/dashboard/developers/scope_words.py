"""Each scope in words, the groups in which people choose them, and which of them a form begins
with."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_noop as _

from apps.access import rights, scopes
from apps.access.access import Access
from apps.core.text.wording import translated
from apps.dashboard.go_live import way_of
from apps.stores.models import WayOfSelling

MEANINGS = {
    scopes.PROFILE: _("See your name and email address"),
    scopes.AGENTS: (
        _("Create agents that accept payments and send payouts, within your own permissions")
    ),
    scopes.OFFLINE: _("Keep access when you’re not using the app"),
    "payments:read": _("View payments"),
    "payments:write": _("Create and cancel payments"),
    "refunds:read": _("View refunds"),
    "refunds:write": _("Refund payments"),
    "payouts:read": _("View payouts, destinations and schedules"),
    "payouts:write": _("Send payouts and manage payout schedules"),
    "balances:read": _("View balances and reports"),
    "webhooks:read": _("View webhook endpoints and deliveries"),
    "webhooks:write": _("Create, change and delete webhook endpoints"),
    "billing:read": _("View customers, products, invoices and subscriptions"),
    "billing:write": _("Manage customers, products, invoices and subscriptions"),
    "assets:read": _("View accepted assets"),
    "assets:write": _("Change accepted assets"),
    "x402:read": _("View mandates and x402 payments"),
    "x402:write": _("Create mandates and settle x402 payments"),
    "stores:read": _("View store details and the request log"),
    "accounts:read": _("View sub-merchant accounts"),
    "accounts:write": _("Create, update and close sub-merchant accounts"),
    scopes.ACT: _("Act for sub-merchants"),
}
# Every scope of a key once: the group, what it is for, and its scopes.
_GROUPS = (
    (
        _("Payments"),
        _("Ask customers for money and follow what they pay."),
        ("payments:read", "payments:write"),
    ),
    (_("Refunds"), _("Send customers’ coins back."), ("refunds:read", "refunds:write")),
    (
        _("Webhooks and requests"),
        _("Register where events are sent, and look up what was sent and asked."),
        ("webhooks:read", "webhooks:write", "stores:read"),
    ),
    (
        _("Balances and payouts"),
        _("See what the store has, and send it to your own destinations or to recipients."),
        ("balances:read", "payouts:read", "payouts:write"),
    ),
    (
        _("Billing"),
        _("Customers, products, invoices and subscriptions."),
        ("billing:read", "billing:write"),
    ),
    (
        _("Coins"),
        _("Which coins the store accepts."),
        ("assets:read", "assets:write"),
    ),
    (
        _("Agents and x402"),
        _("Let software pay and be paid within mandates."),
        ("x402:read", "x402:write"),
    ),
    (
        _("Platform"),
        _("Manage sub-merchants and act for them. For approved platforms."),
        scopes.ACCOUNTS,
    ),
)
_SHOP = (
    "payments:read",
    "payments:write",
    "refunds:read",
    "refunds:write",
    "webhooks:read",
    "webhooks:write",
)
# What a live key begins with: as much as the way of selling takes.
_NEEDS: Mapping[str, Sequence[str]] = {
    # No server takes part in the sales: programs that keep the books read.
    WayOfSelling.LINKS: ("payments:read", "refunds:read", "balances:read", "billing:read"),
    WayOfSelling.WEBSITE: _SHOP,
    WayOfSelling.PLATFORM: (*_SHOP, *scopes.ACCOUNTS),
}


@dataclass(frozen=True)
class ScopeGroup:
    """Scopes that go together; each with its words."""

    title: str
    sentence: str
    scopes: Sequence[tuple[str, str]]


def meaning_of(scope: str) -> str:
    """In the reader's language."""
    return translated(MEANINGS[scope])


def scope_groups(access: Access, among: Collection[str] = scopes.ALL) -> list[ScopeGroup]:
    """Those among these that the person has to give."""
    return groups_of(rights.held_of(access, among))


def groups_of(offered: Collection[str]) -> list[ScopeGroup]:
    groups = []
    for title, sentence, names in _GROUPS:
        found = [(name, meaning_of(name)) for name in names if name in offered]
        if found:
            groups.append(ScopeGroup(translated(title), translated(sentence), found))
    return groups


def full_access(access: Access) -> list[str]:
    """Everything that the person has to give; the scopes for sub-merchants where there may be
    any."""
    among = scopes.ALL if access.store.is_platform else scopes.MERCHANT
    return rights.held_of(access, among)


def first_scopes(access: Access) -> list[str]:
    """Scopes that the form of a key begins with: everything in test mode, in live mode what the
    store's way of selling needs."""
    if not access.is_live:
        return full_access(access)
    needed = _NEEDS[way_of(access) or WayOfSelling.WEBSITE]
    return [scope for scope in full_access(access) if scope in needed]
