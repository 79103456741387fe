"""Delegation of rights to a credential: at most those of its maker, when it is made and at every
use.

A scope that some operation needs goes with its maker's rights; those that read, or ask customers
for money, stay with the store.
"""

from collections.abc import Collection, Iterable

from apps.access import operations, scopes
from apps.access.access import Access
from apps.access.operations import GUARDED_SCOPES, Operation
from apps.core.errors import Failure, RefusalKind
from apps.stores.roles import scopes_of


class BeyondYourRights(Failure):
    """Somebody would give a credential more than they have themselves."""

    kind = RefusalKind.FORBIDDEN
    code = "insufficient_scope"


def is_guarded(scope_names: Iterable[str]) -> bool:
    """True if a credential with these scopes can send money away, or open a way for it."""
    return not GUARDED_SCOPES.isdisjoint(scope_names)


def check_grant(
    access: Access | None,
    mode: str,
    scope_names: Collection[str],
    plain: Operation,
    guarded: Operation,
) -> None:
    """Refuses a credential with scopes that its maker can't give. None is the operator, who may
    anything.

    Raises BeyondYourRights, or what operations.check refuses with.
    """
    if access is None:
        return
    operations.check(access, plain, mode=mode)
    check_held(access, scope_names)
    if is_guarded(scope_names):
        operations.check(access, guarded, mode=mode)


def check_held(access: Access, scope_names: Iterable[str]) -> None:
    """Nobody gives what they don't have. Raises BeyondYourRights."""
    for scope in scope_names:
        if scope not in access.scopes:
            raise BeyondYourRights(scopes.missing_message(scope))


def held_of(access: Access | None, among: Iterable[str]) -> list[str]:
    """Those that the person has to give; the operator has them all."""
    return [scope for scope in among if access is None or scope in access.scopes]


def left_of(granted: Iterable[str], role: str | None) -> frozenset[str]:
    """A credential's remaining scopes under its maker's present role, if any."""
    all_scopes = frozenset(granted)
    lost = all_scopes & GUARDED_SCOPES
    return all_scopes - lost | (scopes_of(role, lost) if role is not None else frozenset())
