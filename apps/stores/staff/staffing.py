"""Members of staff, and their roles. Two give finance or admin; one gives support, or takes a role
away."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.core.errors import Failure
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.models import StaffRequest, User
from apps.stores.services import sign_out_everywhere
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind
from apps.stores.staff_roles import StaffRole

_BY_TWO = frozenset({StaffRole.FINANCE, StaffRole.ADMIN})


class StaffingRefused(Failure):
    """The text says why."""


def request_roles(
    person: User, roles: Collection[str], reason: str, staff: User, at: datetime
) -> StaffRequest | None:
    """Requests the person's new roles, which replace the old ones; None when it needed nobody else
    and is done.

    Raises StaffForbidden, StaffingRefused or what four_eyes.ask raises.
    """
    if not _gained(person, roles):
        staff_roles.check(staff, staff_roles.ROLES_LESS)
        set_roles(person, roles, reason)
        return None
    return four_eyes.ask(ROLES, wish_of(person, roles, reason), staff, at)


def takes_two(person: User, roles: Collection[str]) -> bool:
    return bool(_gained(person, roles))


def wish_of(person: User, roles: Collection[str], reason: str) -> Proposal:
    """Raises StaffingRefused."""
    if not frozenset(roles) <= staff_roles.ALL_ROLES:
        raise StaffingRefused(f"Staff roles are {', '.join(StaffRole.values)}")
    if not person.is_active:
        raise StaffingRefused("The account is switched off")
    lines = [("Staff roles", _names(staff_roles.roles_of(person)), _names(roles))]
    return Proposal(
        str(person.pk),
        f"Staff roles of {person.email}",
        {"user": str(person.pk), "roles": sorted(roles)},
        lines,
        reason,
    )


def set_roles(person: User, roles: Collection[str], reason: str = "") -> User:
    """These and no others; a superuser isn't one any longer. Somebody stays admin. Raises
    StaffingRefused."""
    with transaction.atomic():
        locked = list(
            User.objects.select_for_update()
            .filter(Q(is_staff=True) | Q(pk=person.pk))
            .order_by("pk")
        )
        [fresh] = [row for row in locked if row.pk == person.pk]
        before = staff_roles.roles_of(fresh)
        if StaffRole.ADMIN not in roles:
            refuse_last_admin(fresh)
        fresh.staff_roles = sorted(roles)
        fresh.is_staff = bool(roles)
        fresh.is_superuser = False
        fresh.save(update_fields=["staff_roles", "is_staff", "is_superuser"])
        # A session that was begun with other rights ends.
        sign_out_everywhere(fresh)
        details = {"roles": [_text(before), _text(roles)]}
        audit.record(
            "staff.roles_changed", target=fresh, name=fresh.email, reason=reason, details=details
        )
        now = f"Your staff roles are now: {_names(roles)}" if roles else "You’re no longer staff"
        account_emails.tell(fresh, now)
    return fresh


def admins() -> list[User]:
    return [
        person
        for person in User.objects.filter(is_staff=True, is_active=True)
        if StaffRole.ADMIN in staff_roles.roles_of(person)
    ]


def refuse_last_admin(person: User) -> None:
    """Raises StaffingRefused."""
    if [admin.pk for admin in admins()] == [person.pk]:
        raise StaffingRefused("This is the only admin: somebody else must be one first")


def leave(person: User) -> None:
    """An account that is switched off has no roles to come back with."""
    if person.is_staff:
        set_roles(person, [], "The account was switched off")


def _gained(person: User, roles: Collection[str]) -> frozenset[str]:
    return _BY_TWO & (frozenset(roles) - staff_roles.roles_of(person))


def _names(roles: Collection[str]) -> str:
    """As people call them."""
    return ", ".join(StaffRole(role).label for role in sorted(roles)) or "None"


def _text(roles: Collection[str]) -> str:
    """As the audit log keeps them."""
    return ", ".join(sorted(roles)) or "none"


def _before(facts: Facts) -> Facts:
    person = User.objects.select_for_update().get(pk=facts["user"])
    return {
        "email": person.email,
        "is_active": person.is_active,
        "roles": sorted(staff_roles.roles_of(person)),
    }


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> Any:
    return set_roles(User.objects.get(pk=facts["user"]), facts["roles"], request.reason)


ROLES = RequestKind(
    "staff_roles", "A change to staff roles", staff_roles.ROLES, _before, _carry_out
)
