"""THE table of what each role may do in a store. A role that isn't named in a line may not."""

from apps.stores.models import Role

VIEW, PAY, DEVELOP, MOVE_MONEY, MANAGE, OWN = "view", "pay", "develop", "move_money", "manage", "own"

# permission: who has it
TABLE: dict[str, frozenset[str]] = {
    VIEW: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER, Role.VIEWER}),
    PAY: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),  # ask customers for money
    DEVELOP: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),  # API keys and webhook endpoints
    MOVE_MONEY: frozenset({Role.OWNER, Role.ADMIN}),  # refunds, payouts, swaps, late deposits
    MANAGE: frozenset({Role.OWNER, Role.ADMIN}),  # members and settings
    OWN: frozenset({Role.OWNER}),  # make and remove owners
}

# What a permission is on the API, for a session of the dashboard.
_WRITE_SCOPES: dict[str, frozenset[str]] = {
    PAY: frozenset({"payments:write", "billing:write"}),
    DEVELOP: frozenset({"webhooks:write"}),
    MOVE_MONEY: frozenset({"refunds:write", "payouts:write", "x402:write"}),
    MANAGE: frozenset({"assets:write", "accounts:write", "accounts:act"}),
}
PAY_SCOPES = _WRITE_SCOPES[PAY]


def may(role: str | None, permission: str) -> bool:
    return role in TABLE[permission]


def scopes_of(role: str, every: frozenset[str]) -> frozenset[str]:
    """The scopes of `every` that a member of this role has: all that read, and the writes of their permissions."""
    writes = frozenset().union(*(scopes for permission, scopes in _WRITE_SCOPES.items() if may(role, permission)))
    return frozenset(scope for scope in every if scope.endswith(":read") or scope in writes)
