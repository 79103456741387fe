"""Taking off the second factor of a person who lost phone and backup codes, once two members of
staff know who is asking."""

from datetime import datetime

from django.template.defaultfilters import pluralize

from apps.access.factors import passkeys, second_factor
from apps.access.models import SecondFactor
from apps.core.clock import iso
from apps.core.errors import Failure
from apps.stores import staff_roles
from apps.stores.models import StaffRequest, User
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind


class NoFactor(Failure):
    message = "This account has no second factor"


def request_removal(person: User, reason: str, staff: User, at: datetime) -> StaffRequest:
    """Nothing is taken off yet. Raises NoFactor, or what four_eyes.ask raises."""
    return four_eyes.ask(FACTOR, wish_of(person, reason), staff, at)


def wish_of(person: User, reason: str) -> Proposal:
    """Raises NoFactor."""
    if second_factor.confirmed(person) is None:
        raise NoFactor
    count = passkeys.of(person).count()
    more = f", {count} passkey{pluralize(count)}" if count else ""
    lines = [("Signs in with", f"Password, authenticator app{more}", "Password only")]
    return Proposal(
        str(person.pk),
        f"Removal of the second factor of {person.email}",
        {"user": str(person.pk)},
        lines,
        reason,
    )


def _before(facts: Facts) -> Facts:
    person = User.objects.select_for_update().get(pk=facts["user"])
    factor = SecondFactor.objects.select_for_update().filter(user=person, confirmed=True).first()
    if factor is None:
        raise NoFactor
    return {"email": person.email, "factor": str(factor.pk), "set_up_at": iso(factor.created_at)}


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> None:
    second_factor.take_off(User.objects.get(pk=facts["user"]))


FACTOR = RequestKind(
    "second_factor", "The removal of a second factor", staff_roles.FACTOR, _before, _carry_out
)
