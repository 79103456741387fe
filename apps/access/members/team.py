"""The team of a store: roles changed, people removed, ownership handed over. A store always has an
owner.

Anyone who leaves loses the store with the next request, and so do the apps they let in.
"""

from django.db import transaction

from apps.access import makers, operation_emails, operations
from apps.access.access import Access
from apps.access.members.invitations import check_role, member_of
from apps.access.models import AccessToken, AgentCredential, RefreshToken
from apps.core import clock
from apps.core.errors import Failure, NotFound
from apps.core.text.wording import Worded
from apps.stores import person_mail
from apps.stores.auditing import audit
from apps.stores.models import Member, Role, Store, User
from apps.stores.roles import role_in_words


class LastOwner(Failure):
    field = "role"
    message = "A store needs an owner. Hand the ownership over first."


class OwnersOnly(Failure):
    field = "role"
    message = "Only an owner can change or remove an owner"


class NotYourself(Failure):
    field = "role"
    message = "You can't change your own role"


def change_role(access: Access, member: Member, role: str) -> None:
    """Another role for another person. Raises UnknownRole, OnlyOwnersMakeOwners, OwnersOnly,
    NotYourself, or what operations.check does."""
    operations.check(access, operations.ROLE_CHANGE)
    by = member_of(access)
    check_role(by, role)
    if by.pk == member.pk:
        raise NotYourself
    with transaction.atomic():
        row = _locked(by, member)
        before = row.role
        row.role = role
        row.save(update_fields=["role"])
        if before != role:
            makers.tell_owners(row.store, row.user, before, role)
            details = Worded(
                "{person}: {role}, instead of {before}",
                person=row.user.email,
                role=role_in_words(role),
                before=role_in_words(before),
            )
            operation_emails.tell(access, operations.ROLE_CHANGE, details, to=[row.user])
            audit.record(
                "member.role_changed",
                store=row.store,
                target=row.user,
                name=row.user.email,
                details={"role": [before, role]},
            )


def remove(access: Access, member: Member) -> None:
    """The person has no part in the store any more. Raises OwnersOnly, LastOwner, or what
    operations.check does."""
    operations.check(access, operations.MEMBER_REMOVE)
    by = member_of(access)
    with transaction.atomic():
        row = _locked(by, member)
        _end(row)
        audit.record(
            "member.removed",
            store=row.store,
            target=row.user,
            name=row.user.email,
            details={"role": row.role},
        )
        details = Worded("{person}, {role}", person=row.user.email, role=role_in_words(row.role))
        operation_emails.tell(access, operations.MEMBER_REMOVE, details)
        at = clock.iso(clock.real_now())
        context = {"store": row.store.name, "email": row.user.email}
        person_mail.send(
            row.user,
            key=f"member_removed:{row.pk}:{at}",
            template="member_removed",
            context=context,
        )


def leave(member: Member) -> None:
    """Of one's own will. Raises LastOwner."""
    with transaction.atomic():
        row = _locked(member, member)
        _end(row)
        audit.record(
            "member.left",
            store=row.store,
            target=row.user,
            name=row.user.email,
            details={"role": row.role},
        )


def hand_over(access: Access, member: Member) -> None:
    """The other becomes owner and the one who hands over an admin. Raises OwnersOnly, or what
    operations.check does."""
    operations.check(access, operations.HAND_OVER)
    by = member_of(access)
    if by.pk == member.pk:
        raise NotYourself
    with transaction.atomic():
        to = _locked(by, member)
        giver = Member.objects.select_related("user").get(pk=by.pk)
        if giver.role != Role.OWNER:
            raise OwnersOnly
        before = to.role
        to.role = Role.OWNER
        giver.role = Role.ADMIN
        to.save(update_fields=["role"])
        giver.save(update_fields=["role"])
        details = Worded(
            "From {giver} to {recipient}", giver=giver.user.email, recipient=to.user.email
        )
        operation_emails.tell(access, operations.HAND_OVER, details, to=[to.user, giver.user])
        audit.record(
            "store.ownership_handed_over",
            store=to.store,
            target=to.user,
            name=to.user.email,
            details={"role": [before, Role.OWNER]},
        )
        audit.record(
            "member.role_changed",
            store=to.store,
            target=giver.user,
            name=giver.user.email,
            details={"role": [Role.OWNER, Role.ADMIN]},
        )


def _locked(by: Member, member: Member) -> Member:
    """The member as it is now; changes of one store's team wait for each other. Raises NotFound or
    OwnersOnly."""
    Store.objects.select_for_update().get(pk=by.store_id)
    rows = {
        row.pk: row
        for row in Member.objects.filter(
            store_id=by.store_id, pk__in=[by.pk, member.pk]
        ).select_related("user", "store")
    }
    if len(rows) != len({by.pk, member.pk}):
        raise NotFound
    if rows[member.pk].role == Role.OWNER and rows[by.pk].role != Role.OWNER:
        raise OwnersOnly
    return rows[member.pk]


def is_only_owner(member: Member) -> bool:
    """True if nobody would own the store without them."""
    owners = Member.objects.filter(store_id=member.store_id, role=Role.OWNER)
    return member.role == Role.OWNER and not owners.exclude(pk=member.pk).exists()


def _end(member: Member) -> None:
    if is_only_owner(member):
        raise LastOwner
    Member.objects.filter(pk=member.pk).delete()
    makers.tell_owners(member.store, member.user, member.role, None)
    end_apps(member.user, member.store)


def end_apps(user: User, store: Store) -> None:
    """Everything that apps hold for a person in a store ends."""
    now = clock.real_now()
    grants = {"user": user, "store": store}
    AccessToken.objects.filter(**grants, revoked_at=None).update(revoked_at=now)
    RefreshToken.objects.filter(**grants, revoked=None).update(revoked=now)
    AgentCredential.objects.filter(**grants, application__isnull=False, revoked_at=None).update(
        revoked_at=now
    )
