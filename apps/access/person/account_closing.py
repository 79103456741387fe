"""A person closes their account: nothing opens with it any more, and what is personal about it
goes.

Books and the audit log keep its id. Lines of the log from before keep the address that they were
written with: nobody changes them.
"""

from django.db import transaction
from django.utils.translation import gettext_noop
from django_otp_webauthn.models import WebAuthnCredential

from apps.access.members import team
from apps.access.models import SecondFactor, SignIn
from apps.access.person import sign_in
from apps.core import acting
from apps.core.errors import Failure, RefusalKind
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.models import Member, NotificationChoice, Role, Store, User
from apps.stores.services import sign_out_everywhere


class OwnsStores(Failure):
    """Named by the page, which lists them."""

    kind = RefusalKind.CONFLICT
    message = "Close these stores or hand them over first"


class StaffAccountClosing(Failure):
    kind = RefusalKind.FORBIDDEN
    message = "Accounts of staff are closed by the operator"


def owned_alone(user: User) -> list[Store]:
    """The open stores that would be left without an owner, by name."""
    owners = Member.objects.filter(role=Role.OWNER, store__deleted_at=None)
    shared_store_ids = owners.exclude(user=user).values("store_id")
    alone = owners.filter(user=user).exclude(store_id__in=shared_store_ids)
    return [member.store for member in alone.select_related("store").order_by("store__name")]


def close_account(user: User, password: str, address: str) -> None:
    """Raises sign_in.Refused, TooManyAttempts, SignInUnavailable, OwnsStores or
    StaffAccountClosing."""
    sign_in.by_password(user.email, password, address)
    with transaction.atomic():
        fresh = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if fresh.is_staff:
            raise StaffAccountClosing
        if owned_alone(fresh):
            raise OwnsStores
        account_emails.tell(fresh, gettext_noop("Your account was closed"))
        acting.become(acting.ActorKind.PERSON, fresh.pk)
        for member in Member.objects.filter(user=fresh, store__deleted_at=None).select_related(
            "store"
        ):
            team.leave(member)
        Member.objects.filter(user=fresh).delete()
        _forget(fresh)
        audit.record("person.closed", target=fresh)


def _forget(user: User) -> None:
    for rows in (WebAuthnCredential, SecondFactor, SignIn, NotificationChoice):
        rows.objects.filter(user=user).delete()
    user.email = f"closed-{user.pk.hex}@account.invalid"
    user.name = ""
    user.language = user.time_zone = user.region = ""
    user.is_active = False
    user.set_unusable_password()
    own = ("email", "name", "language", "time_zone", "region", "is_active", "password")
    user.save(update_fields=own)
    sign_out_everywhere(user)
