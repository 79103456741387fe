"""THE table of what each role may do in a store. A role that isn't named in a line may not."""

from apps.core.text.wording import Worded
from apps.stores.models import Role

VIEW = "view"
KEEP_BOOKS = "keep_books"
INSPECT = "inspect"
PAY = "pay"
SELL = "sell"
DEVELOP = "develop"
MOVE_MONEY = "move_money"
MANAGE = "manage"
OWN = "own"
_EVERYBODY = frozenset(Role.values)
# A cashier's place is the point of sale, and nothing else of the store.
_READERS = _EVERYBODY - {Role.CASHIER}

# permission: who has it
TABLE: dict[str, frozenset[str]] = {
    VIEW: _READERS,
    KEEP_BOOKS: _READERS,  # statements, reports and CSV files
    INSPECT: _READERS
    - {Role.ACCOUNTANT},  # see keys, webhook endpoints, apps, agents and the request log
    PAY: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),  # ask customers for money
    # charge at the point of sale, and see its last sales
    SELL: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER, Role.CASHIER}),
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
_INSPECTING_SCOPES = frozenset({"webhooks:read"})


def may(role: str | None, permission: str) -> bool:
    return role in TABLE[permission]


def scopes_of(role: str, every: frozenset[str]) -> frozenset[str]:
    """The scopes of `every` that a member of this role has: those that read, and the writes of
    their permissions. A cashier has none."""
    if not may(role, VIEW):
        return frozenset()
    writes = frozenset().union(
        *(scopes for permission, scopes in _WRITE_SCOPES.items() if may(role, permission))
    )
    hidden = frozenset() if may(role, INSPECT) else _INSPECTING_SCOPES
    return frozenset(
        scope for scope in every - hidden if scope.endswith(":read") or scope in writes
    )


def role_in_words(role: str) -> Worded:
    """The name of a role, for a sentence that is read in several languages."""
    return Worded(Role(role).label.lower())
