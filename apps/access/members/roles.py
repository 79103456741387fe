"""The role of a store's member, as staff change it for a store that can't: two of them, and the
store's owners and the member are notified."""

from datetime import datetime

from django.utils.translation import gettext_noop

from apps.access import makers
from apps.core.errors import Failure
from apps.core.models import Mode
from apps.core.text.wording import Worded
from apps.stores import staff_roles
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.emailing.account_emails import StaffDecision
from apps.stores.models import Member, Role, StaffRequest, Store, User
from apps.stores.notices import kinds as notification_kinds
from apps.stores.roles import role_in_words
from apps.stores.staff import four_eyes
from apps.stores.staff.four_eyes import Facts, Proposal, RequestKind


class MemberRoleRefused(Failure):
    """The text says why."""


def request_role(
    store: Store, person: User, role: str, reason: str, staff: User, at: datetime
) -> StaffRequest:
    """Nothing is changed yet. Raises MemberRoleRefused, or what four_eyes.ask raises."""
    return four_eyes.ask(MEMBER_ROLE, wish_of(store, person, role, reason), staff, at)


def wish_of(store: Store, person: User, role: str, reason: str) -> Proposal:
    """Raises MemberRoleRefused."""
    member = Member.objects.filter(store=store, user=person).first()
    if member is None:
        raise MemberRoleRefused("This person is not a member of the store")
    if role not in Role.values:
        raise MemberRoleRefused(f"Roles are {', '.join(Role.values)}")
    if member.role == role:
        raise MemberRoleRefused("This is the member’s role already")
    return Proposal(
        str(member.pk),
        f"Role of {person.email} in {store.name}",
        {"store": str(store.pk), "user": str(person.pk), "role": role},
        [("Role", Role(member.role).label, Role(role).label)],
        reason,
    )


def _member(facts: Facts) -> Member:
    """Changes of one store's team wait for each other. Raises MemberRoleRefused."""
    Store.objects.select_for_update().get(pk=facts["store"])
    rows = Member.objects.filter(store_id=facts["store"], user_id=facts["user"])
    member = rows.select_related("store", "user").first()
    if member is None:
        raise MemberRoleRefused("This person is no longer a member of the store")
    return member


def _before(facts: Facts) -> Facts:
    member = _member(facts)
    owners = Member.objects.filter(store=member.store, role=Role.OWNER).exclude(pk=member.pk)
    if member.role == Role.OWNER and not owners.exists():
        raise MemberRoleRefused("A store needs an owner: make somebody else one first")
    return {"email": member.user.email, "role": member.role}


def _carry_out(request: StaffRequest, facts: Facts, at: datetime) -> None:
    member = _member(facts)
    before, role = member.role, facts["role"]
    effect = Worded(
        "{person} is now {role}, instead of {before}.",
        person=member.user.email,
        role=role_in_words(role),
        before=role_in_words(before),
    )
    text = Worded("{effect} If you didn’t expect this, contact us.", effect=effect)
    decision = StaffDecision(
        gettext_noop("Our staff changed the role of a team member"),
        text,
        "/dashboard/team",
        gettext_noop("Open the team"),
    )
    key = f"staff_request:{request.pk}"
    # Anyone who owns the store before the change hears of it, also who owns it no longer.
    account_emails.tell_decision(
        member.store, Mode.LIVE, key, decision, kind=notification_kinds.STAFF_CHANGE
    )
    member.role = role
    member.save(update_fields=["role"])
    makers.tell_owners(member.store, member.user, before, role)
    audit.record(
        "member.role_changed",
        store=member.store,
        target=member.user,
        name=member.user.email,
        reason=request.reason,
        details={"role": [before, role]},
    )
    if before != Role.OWNER:
        event = Worded(
            "Your role in {store} is now {role}",
            store=member.store.name,
            role=role_in_words(role),
        )
        account_emails.tell(member.user, event)


MEMBER_ROLE = RequestKind(
    "member_role",
    "A change to the role of a store’s member",
    staff_roles.MEMBER_ROLE,
    _before,
    _carry_out,
)
