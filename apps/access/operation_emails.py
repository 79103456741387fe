"""Emails about acts of people, to the recipients named in the operation's row. Services ask after
the act, in its transaction.

What belongs to a mode gets an email in live mode alone. Keys, apps and agents get none: who
made them was.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_noop as _

from apps.access import operations
from apps.access.access import Access
from apps.access.operations import Operation
from apps.core.models import Mode
from apps.core.text.wording import Worded
from apps.stores import person_mail
from apps.stores.models import Member, Role, Store, User
from apps.stores.roles import role_in_words

# What was done, as the subject of its email, of each operation that owners or a team are written
# about.
DONE = {
    operations.BATCH_RELEASE: _("A mass payout was released"),
    operations.DESTINATION_ADD: _("A payout destination was added"),
    operations.WALLET_CHANGE: _("The wallet that customers’ coins go to was changed"),
    operations.SCHEDULE_CREATE: _("A payout schedule was created"),
    operations.SCHEDULE_CHANGE: _("A payout schedule was changed"),
    operations.AUTO_SWAP: _("Automatic swaps were changed"),
    operations.WAITING_PERIOD_CHANGE: _("The waiting period was changed"),
    operations.COMPATIBLE_APIS: _("The BTCPay API was turned on or off"),
    operations.APPROVAL_CHANGE: _("The approval limit for payouts was changed"),
    operations.GUARDED_KEY_CREATE: _("An API key that can move money was created"),
    operations.GUARDED_AGENT_CREATE: _("An agent that can move money was created"),
    operations.GUARDED_GRANT: _("An app that can move money was authorized"),
    operations.TAKE_OVER: _("A key or agent was taken over"),
    operations.STORE_CLOSE: _("The store was closed"),
    operations.ROLE_CHANGE: _("A team member’s role was changed"),
    operations.MEMBER_REMOVE: _("A team member was removed"),
    operations.HAND_OVER: _("Ownership was transferred"),
}


@dataclass(frozen=True)
class StopLink:
    """The link of an email: its token, and until when what it stops hasn't taken effect. A new
    credential works already, and `is_revoked` by it; until then it sends coins only to addresses
    that the store knows, None being anywhere."""

    until: datetime | None
    token: str
    is_revoked: bool = False


def tell(
    access: Access | None,
    operation: Operation,
    details: str,
    *,
    mode: str | None = None,
    to: Iterable[User] = (),
    stop: StopLink | None = None,
    done: str = "",
) -> None:
    """Write to the store's owners, and to those it was done to. `mode` is that of what is changed,
    where it isn't the access's; `done` says more exactly than DONE what was done. Both texts are
    Worded where they have words and figures."""
    if access is None or access.user is None or not operation.emails:
        return
    if operation.has_mode and (mode or access.mode) != Mode.LIVE:
        return
    _write(
        access.store,
        access.user,
        done or DONE[operation],
        details,
        to=to,
        stop=stop,
        is_live=operation.has_mode,
    )


def tell_later(
    store: Store, person: User, operation: Operation, details: str, stop: StopLink | None
) -> None:
    """Write to the owners of what somebody asked for, when a worker has it take its course."""
    _write(store, person, DONE[operation], details, stop=stop, is_live=operation.has_mode)


def tell_joined(member: Member, invited_by: User) -> None:
    """Somebody accepted an invitation: the other owners hear of it."""
    details = Worded(
        "{person}, as {role}, invited by {inviter}",
        person=member.user.email,
        role=role_in_words(member.role),
        inviter=invited_by.email,
    )
    _write(member.store, member.user, _("A member joined the team"), details, but=member.user)


def _write(
    store: Store,
    person: User,
    done: str,
    details: str,
    *,
    to: Iterable[User] = (),
    but: User | None = None,
    stop: StopLink | None = None,
    is_live: bool = False,
) -> None:
    owners = Member.objects.filter(
        store=store, role=Role.OWNER, user__is_active=True
    ).select_related("user")
    people = {user.pk: (user, False) for user in to} | {
        owner.user_id: (owner.user, True) for owner in owners
    }
    context = {
        "done": done,
        "what": details,
        "store": store.name,
        "person": person.name or person.email,
        "until": stop.until if stop else None,
        "token": stop.token if stop else "",
        "is_revoked": stop is not None and stop.is_revoked,
        "is_live": is_live,
    }
    for user, is_owner in people.values():
        if user != but:
            values = context | {"is_owner": is_owner}
            person_mail.send(
                user, key=f"operation:{uuid.uuid4()}", template="operation", context=values
            )
