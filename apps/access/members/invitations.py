"""Inviting people to a store by e-mail: an email with a token that works once, for a week, for one
address.

Only owners make owners. Accepting takes an account with the invited address; anyone who has none
makes it on the way.
"""

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from apps.access import operation_emails, operations
from apps.access.access import Access
from apps.access.credentials import digest
from apps.core import clock, emails
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure, NotFound
from apps.core.messages.fields import Invalid, check_storable
from apps.stores import person_mail
from apps.stores.auditing import audit
from apps.stores.models import Invitation, Member, Role, Store, User
from apps.stores.profile import page_language
from apps.stores.services import check_password, create_user

LIFETIME = timedelta(days=7)
OPEN_MAX = 50
RESEND_WAIT = timedelta(minutes=1)


class BadAddress(Failure):
    field = "email"
    message = "That is not an email address"


class UnknownRole(Failure):
    field = "role"
    message = "Choose one of the roles"


class OnlyOwnersMakeOwners(Failure):
    field = "role"
    message = "Only an owner can make somebody an owner"


class AlreadyMember(Failure):
    field = "email"
    message = "This person is in the store already"


class AlreadyInvited(Failure):
    field = "email"
    message = "This address has been invited already. Resend the invitation instead."


class TooManyInvitations(Failure):
    message = "There are too many open invitations. Revoke some first."


class JustSent(Failure):
    message = "The email was sent a moment ago. Wait a minute before you send it again."


class TooManyEmails(Failure):
    field = "email"
    message = "This address has received too many emails today. Try again tomorrow."


class BadPersonName(Failure):
    field = "name"
    message = "A name has at most 100 characters, and none that can't be stored"


class ForSomebodyElse(Failure):
    message = "This invitation is for another email address"


def pending(store: Store) -> "QuerySet[Invitation]":
    """Those that were neither accepted nor revoked, expired ones too."""
    return (
        Invitation.objects.filter(store=store, accepted_at=None, revoked_at=None)
        .select_related("invited_by")
        .order_by("-created_at")
    )


def member_of(access: Access) -> Member:
    """The acting person's membership in the store. Raises NotFound."""
    member = (
        Member.objects.filter(store_id=access.store_id, user=access.user)
        .select_related("user", "store")
        .first()
    )
    if member is None:
        raise NotFound
    return member


def invite(access: Access, *, email: str, role: str, at: datetime) -> Invitation:
    """Offer a role to anyone who reads the address. Raises one of the refusals above, or what
    operations.check does."""
    operations.check(access, operations.INVITE)
    by = member_of(access)
    try:
        email = emails.for_account(email)
    except Invalid:
        raise BadAddress from None
    check_role(by, role)
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        Store.objects.select_for_update().get(pk=by.store_id)
        if Member.objects.filter(store=by.store, user__email_key=emails.canonical(email)).exists():
            raise AlreadyMember
        if pending(by.store).count() >= OPEN_MAX:
            raise TooManyInvitations
        invitation = Invitation(
            store=by.store, email=email, role=role, invited_by=by.user, created_at=at
        )
        _renew(invitation, token, at)
        with refused_by("invitation_once_per_store", AlreadyInvited):
            invitation.save(force_insert=True)
        audit.record(
            "member.invited", store=by.store, target=invitation, name=email, details={"role": role}
        )
        _send(invitation, token)
    return invitation


def check_role(by: Member, role: str) -> None:
    """Refuses a role that the member may not give. Raises UnknownRole or OnlyOwnersMakeOwners."""
    if role not in Role.values:
        raise UnknownRole
    if role == Role.OWNER and by.role != Role.OWNER:
        raise OnlyOwnersMakeOwners


def resend(access: Access, invitation: Invitation, at: datetime) -> None:
    """A new email with a new token and another week; the old email is worth nothing. Raises
    JustSent, or what operations.check does."""
    operations.check(access, operations.INVITE)
    check_role(member_of(access), invitation.role)
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        row = _open_row(invitation)
        if at - row.sent_at < RESEND_WAIT:
            raise JustSent
        _renew(row, token, at)
        row.save(update_fields=["token_hash", "sent_at", "expires_at"])
        audit.record("invitation.sent_again", store=row.store, target=row, name=row.email)
        _send(row, token)


def revoke(invitation: Invitation, at: datetime, *, by: Access | None = None) -> None:
    """The email is worth nothing any more."""
    operations.check(by, operations.INVITE_REVOKE)
    with transaction.atomic():
        row = _open_row(invitation)
        row.revoked_at = at
        row.save(update_fields=["revoked_at"])
        audit.record("invitation.revoked", store=row.store, target=row, name=row.email)


def find(token: str, at: datetime) -> Invitation:
    """The open invitation with this token. Raises NotFound."""
    rows = Invitation.objects.filter(
        accepted_at=None, revoked_at=None, expires_at__gt=at, store__deleted_at=None
    )
    invitation = rows.filter(token_hash=digest(token)).select_related("store", "invited_by").first()
    if invitation is None or _may_not_invite(invitation):
        raise NotFound
    return invitation


def _may_not_invite(invitation: Invitation) -> bool:
    """True if the one who invited has left since, or may not give that role any more."""
    roles = {Role.OWNER} if invitation.role == Role.OWNER else {Role.OWNER, Role.ADMIN}
    return not Member.objects.filter(
        store=invitation.store, user=invitation.invited_by, role__in=roles
    ).exists()


def invited_user(invitation: Invitation) -> User | None:
    """The account with the invited address, if there is one."""
    return User.objects.with_email(invitation.email)


def accept(invitation: Invitation, user: User, at: datetime) -> Member:
    """Join the store. Raises ForSomebodyElse, or NotFound when it was accepted or revoked
    meanwhile."""
    if invited_user(invitation) != user:
        raise ForSomebodyElse
    with transaction.atomic():
        row = _open_row(invitation)
        row.accepted_at = at
        row.save(update_fields=["accepted_at"])
        member, _ = Member.objects.get_or_create(
            store=row.store, user=user, defaults={"role": row.role, "created_at": at}
        )
        operation_emails.tell_joined(member, row.invited_by)
        audit.record(
            "member.joined",
            store=row.store,
            target=user,
            name=user.email,
            details={"role": member.role},
        )
    return member


def accept_as_new(invitation: Invitation, *, name: str, password: str, at: datetime) -> Member:
    """Make the account of the invited address and join. Raises BadName, or Failure when the
    password is refused."""
    name = name.strip()
    try:
        check_storable(name)
    except Invalid:
        raise BadPersonName from None
    if len(name) > 100:
        raise BadPersonName
    with transaction.atomic():
        check_password(password, User(email=invitation.email, name=name))
        user = create_user(invitation.email, password, name=name, language=page_language())
        return accept(invitation, user, at)


def _open_row(invitation: Invitation) -> Invitation:
    rows = Invitation.objects.select_for_update(of=("self",)).filter(
        pk=invitation.pk, accepted_at=None, revoked_at=None
    )
    row = rows.select_related("store", "invited_by").first()
    if row is None:
        raise NotFound
    return row


def _renew(invitation: Invitation, token: str, at: datetime) -> None:
    invitation.token_hash = digest(token)
    invitation.sent_at = at
    invitation.expires_at = at + LIFETIME


def _send(invitation: Invitation, token: str) -> None:
    context = {
        "store": emails.shown_name(invitation.store.name),
        "inviter": emails.greeting_name(invitation.invited_by.name) or invitation.invited_by.email,
        "role": invitation.get_role_display(),
        "email": invitation.email,
        "token": token,
        "days": LIFETIME.days,
    }
    key = f"invitation:{invitation.pk}:{clock.iso(invitation.sent_at)}"
    # Whom it is for may have no account; somebody who has one reads their own language.
    known = User.objects.with_email(invitation.email)
    if not person_mail.send(
        known or invitation.invited_by,
        key=key,
        to=invitation.email,
        template="invitation",
        context=context,
        page_language=page_language(),
    ):
        raise TooManyEmails
