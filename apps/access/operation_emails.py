"""Emails about acts of people, to the recipients named in the operation's row. Services ask after
the act, in its transaction.

What belongs to a mode is told of in live mode alone. Keys, apps and agents are told of nowhere: who
made them was.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from apps.access import operations
from apps.access.access import Access
from apps.access.operations import Operation
from apps.core import mail
from apps.core.models import Mode
from apps.stores import profile
from apps.stores.models import Member, Role, Store, User

# What was done, as the subject of its email, of each operation that owners or a team are written
# about.
DONE = {
    operations.BATCH_RELEASE: "A mass payout was released",
    operations.DESTINATION_ADD: "A payout destination was added",
    operations.WALLET_CHANGE: "The wallet that customers’ coins go to was changed",
    operations.SCHEDULE_CREATE: "A payout schedule was created",
    operations.SCHEDULE_CHANGE: "A payout schedule was changed",
    operations.AUTO_SWAP: "Automatic swaps were changed",
    operations.WAITING_PERIOD_CHANGE: "The waiting period was changed",
    operations.APPROVAL_CHANGE: "The approval limit for payouts was changed",
    operations.GUARDED_KEY_CREATE: "An API key that can move money was created",
    operations.GUARDED_AGENT_CREATE: "An agent that can move money was created",
    operations.GUARDED_GRANT: "An app that can move money was authorized",
    operations.TAKE_OVER: "A key or agent was taken over",
    operations.STORE_CLOSE: "The store was closed",
    operations.ROLE_CHANGE: "A team member’s role was changed",
    operations.MEMBER_REMOVE: "A team member was removed",
    operations.HAND_OVER: "Ownership was transferred",
}


@dataclass(frozen=True)
class Stop:
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
    stop: Stop | None = None,
    done: str = "",
) -> None:
    """Write to the store's owners, and to those it was done to. `mode` is that of what is changed,
    where it isn't the access's; `done` says more exactly than DONE what was done."""
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
    store: Store, person: User, operation: Operation, details: str, stop: Stop | None
) -> None:
    """Write to the owners of what somebody asked for, when a worker has it take its course."""
    _write(store, person, DONE[operation], details, stop=stop, is_live=operation.has_mode)


def tell_joined(member: Member, invited_by: User) -> None:
    """Somebody accepted an invitation: the other owners hear of it."""
    details = (
        f"{member.user.email}, as {member.get_role_display().lower()}, invited by"
        f" {invited_by.email}"
    )
    _write(member.store, member.user, "A member joined the team", details, but=member.user)


def _write(
    store: Store,
    person: User,
    done: str,
    details: str,
    *,
    to: Iterable[User] = (),
    but: User | None = None,
    stop: Stop | None = None,
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
            mail.send(
                key=f"operation:{uuid.uuid4()}",
                to=user.email,
                template="operation",
                context=values,
                zone=profile.zone_of(user),
            )
