"""What whoever asks may do with a store's money, and what they may hand on to a credential.

Services ask here, whichever door called them. A key, token or agent may what its scopes say; a
person may what their role says, and in live mode shows that they have a second factor.
"""

from collections.abc import Collection, Iterable

from apps.access import scopes, stepup
from apps.access.access import Access
from apps.core.errors import Coded
from apps.core.models import Mode
from apps.stores import roles
from apps.stores.models import User


class RoleForbids(Coded):
    status = 403
    code = "role_forbidden"
    message = "Your role does not allow this"


class BeyondYourRights(Coded):
    """Somebody would give a credential more than they have themselves."""

    status = 403
    code = "insufficient_scope"


def check_may_move_money(access: Access) -> None:
    """For what no scope guards. Raises RoleForbids for a person, or the app of one, who may not."""
    if access.role is not None and not roles.may(access.role, roles.MOVE_MONEY):
        raise RoleForbids


def check_second_factor(access: Access, mode: str | None = None) -> None:
    """For what moves live money, or opens a way for it.

    Raises stepup.SecondFactorRequired for a person without one. Keys, tokens and agents have none.
    """
    if access.user is not None:
        check_factor_of(access.user, access.mode if mode is None else mode)


def check_factor_of(user: User, mode: str) -> None:
    if mode == Mode.LIVE:
        stepup.require_second_factor(user)


def is_about_money(wanted: Iterable[str]) -> bool:
    """Whether a credential with these scopes can send money away, or make one that can."""
    return not {*roles.MONEY_SCOPES, scopes.AGENTS}.isdisjoint(wanted)


def check_grant(access: Access | None, mode: str, wanted: Collection[str]) -> None:
    """Whether a credential with these scopes may be made. None is the operator, who may anything.

    Raises BeyondYourRights, or stepup.SecondFactorRequired.
    """
    if access is None:
        return
    check_held(access, wanted)
    if is_about_money(wanted):
        check_second_factor(access, mode)


def check_held(access: Access, wanted: Iterable[str]) -> None:
    """Nobody gives what they don't have. Raises BeyondYourRights."""
    for scope in wanted:
        if scope not in access.scopes:
            raise BeyondYourRights(scopes.missing_message(scope))


def held_of(access: Access | None, among: Iterable[str]) -> list[str]:
    """Those that the person has to give; the operator has them all."""
    return [scope for scope in among if access is None or scope in access.scopes]
