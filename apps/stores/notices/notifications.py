"""Notifications: what is recorded about a store, who is emailed about it, and what each person has
chosen.

An app records one in the transaction of what happened (`record`); a job queues its emails once.
Only live mode is emailed: the pages of test mode show theirs.
"""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.core import signing
from django.db import transaction
from django.db.models import Exists, F, Func, IntegerField, OuterRef, Q, QuerySet

from apps.core import clock, jobs
from apps.core.errors import NotFound
from apps.core.messages.fields import is_uuid
from apps.core.models import Mode, Viewer
from apps.core.rows import Job
from apps.stores import person_mail, roles
from apps.stores.models import Member, Store, User
from apps.stores.models.notifications import Notification, NotificationChoice
from apps.stores.notices import sentences
from apps.stores.notices.kinds import IMMEDIATELY, KINDS, OFF

JOB = Job("stores.tell_notifications", limit=100)
RECIPIENTS_MAX = 100
UNREAD_MAX = 99
NEWEST_MAX = 500  # of those that came since, so that hidden ones aren't looked through for ever
READ_MAX = 2 * NEWEST_MAX  # of those read by themselves, in both modes
KEPT = timedelta(days=365)
_SALT = "apps.stores.notifications.unsubscribe"


class NewNotification(NamedTuple):
    """A notification to be recorded for one store: kind, subject, words, and page.

    `amount` is text that a title has after "of", or last after "by"; pages show it beside the
    title instead.
    """

    store_id: uuid.UUID
    mode: str
    kind: str
    subject: object
    title: str
    path: str
    text: str = ""
    amount: str = ""


def record(*news: NewNotification) -> None:
    """Write them in the caller's transaction; what is known already isn't written again."""
    if not news:
        return
    at = clock.real_now()
    Notification.objects.bulk_create([_row(item, at) for item in news], ignore_conflicts=True)
    jobs.enqueue("stores.tell_notifications")


def _row(item: NewNotification, at: datetime) -> Notification:
    return Notification(
        store_id=item.store_id,
        mode=item.mode,
        kind=item.kind,
        subject=str(item.subject)[:100],
        title=item.title[:200],
        text=item.text[:500],
        path=item.path[:300],
        amount=item.amount[:100],
        created_at=at,
    )


# --- emails ---------------------------------------------------------------------------------------


def tell_due() -> int:
    """Queue the emails of whatever waits for them; how many were looked at."""
    waiting = Notification.objects.filter(told_at=None).order_by("created_at")
    return JOB.walk(waiting.values_list("pk", flat=True), tell)


def tell(notification_id: uuid.UUID) -> None:
    """Queue the emails of one, once, however many runs look at it at the same time."""
    with transaction.atomic():
        rows = Notification.objects.select_for_update(of=("self",)).select_related("store")
        row = rows.filter(pk=notification_id, told_at=None).first()
        if row is None:
            return
        row.told_at = clock.real_now()
        row.save(update_fields=["told_at"])
        if row.mode == Mode.LIVE and row.store.deleted_at is None and not KINDS[row.kind].always:
            for member in recipients(row.store, row.kind, IMMEDIATELY):
                _send(row, member.user)


def _send(row: Notification, user: User) -> None:
    context = {
        "title": sentences.title_of_email(row.title, row.amount),
        "text": sentences.text_of_email(row.text),
        "path": row.path,
        "store": row.store.name,
    }
    send(f"notification:{row.pk}:{user.pk}", "notification", row.store, row.kind, user, context)


def send(
    key: str, template: str, store: Store, kind: str, user: User, context: Mapping[str, object]
) -> None:
    """An email of a kind, from which its reader can unsubscribe by one press."""
    link = unsubscribe_path(user, store, kind)
    person_mail.send(
        user,
        key=key,
        template=template,
        context={**context, "unsubscribe": link, "kind": KINDS[kind].label},
        unsubscribe_path=link,
    )


def recipients(store: Store, kind: str, choice: str) -> list[Member]:
    """The members who have chosen so, or would have by default; nobody who sees nothing of the
    store."""
    members = Member.objects.filter(
        store=store, user__is_active=True, role__in=roles.TABLE[roles.VIEW]
    ).select_related("user")
    chosen = dict(
        NotificationChoice.objects.filter(store=store, kind=kind).values_list("user_id", "choice")
    )
    every = list(members.order_by("pk")[:RECIPIENTS_MAX])
    return [
        member
        for member in every
        if (chosen.get(member.user_id) or default_of(kind, member.role)) == choice
    ]


def default_of(kind: str, role: str) -> str:
    return KINDS[kind].default if roles.may(role, KINDS[kind].permission) else OFF


# --- what a person has chosen ---------------------------------------------------------------------


class Channels(NamedTuple):
    """A member's channels for a kind."""

    email: str
    is_shown: bool


def channels_of(member: Member) -> dict[str, Channels]:
    """By kind."""
    rows = NotificationChoice.objects.filter(store_id=member.store_id, user_id=member.user_id)
    chosen = {kind: (choice, is_shown) for kind, choice, is_shown in rows.values_list(*_CHOSEN)}
    return {kind: _channels(kind, member.role, *chosen.get(kind, ("", None))) for kind in KINDS}


_CHOSEN = ("kind", "choice", "is_shown")


def _channels(kind: str, role: str, choice: str, is_shown: bool | None) -> Channels:
    if not roles.may(role, roles.VIEW):
        return Channels(OFF, is_shown=False)
    by_default = KINDS[kind].is_shown or choice == IMMEDIATELY
    return Channels(choice or default_of(kind, role), by_default if is_shown is None else is_shown)


def choices_of(member: Member) -> dict[str, str]:
    """Kind -> how the member is emailed about it."""
    return {kind: channels.email for kind, channels in channels_of(member).items()}


def show_kinds(user: User, store: Store, boxes: Mapping[str, bool]) -> None:
    """Keep which kinds are seen in the dashboard; those without a box are left as they were."""
    rows = [
        NotificationChoice(user=user, store=store, kind=kind, is_shown=is_shown)
        for kind, is_shown in boxes.items()
        if kind in KINDS
    ]
    NotificationChoice.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["store", "user", "kind"],
        update_fields=["is_shown"],
    )


def choose(user: User, store: Store, choices: Mapping[str, str]) -> None:
    """Keep what is chosen of each kind; what isn't offered is left as it was."""
    offered = {
        kind: choice
        for kind, choice in choices.items()
        if kind in KINDS and choice in KINDS[kind].choices and not KINDS[kind].always
    }
    rows = [
        NotificationChoice(user=user, store=store, kind=kind, choice=choice)
        for kind, choice in offered.items()
    ]
    NotificationChoice.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["store", "user", "kind"],
        update_fields=["choice"],
    )


def unsubscribe_path(user: User, store: Store, kind: str) -> str:
    token = signing.dumps([str(user.pk), str(store.pk), kind], salt=_SALT)
    return f"/dashboard/unsubscribe/{token}"


def subscription_of(token: str) -> tuple[User, Store, str]:
    """Person, store and kind of the emails that a link ends. Raises NotFound."""
    try:
        user_id, store_id, kind = signing.loads(token, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        raise NotFound from None
    if not (is_uuid(user_id) and is_uuid(store_id) and kind in KINDS):
        raise NotFound
    user = User.objects.filter(pk=user_id).first()
    store = Store.objects.filter(pk=store_id).first()
    if user is None or store is None:
        raise NotFound
    return user, store, kind


# --- the page -------------------------------------------------------------------------------------


def read_until(member: Member, mode: str) -> datetime | None:
    return member.live_read_at if mode == Mode.LIVE else member.test_read_at


def shown_to(member: Member, rows: "QuerySet[Notification]") -> "QuerySet[Notification]":
    """Those of the kinds that the member sees in the dashboard, which the rows are asked
    themselves: no statement more."""
    return _shown(member.store_id, member.user_id, rows)


def _shown(store_id: Any, user_id: Any, rows: "QuerySet[Notification]") -> "QuerySet[Notification]":
    own = NotificationChoice.objects.filter(
        store_id=store_id, user_id=user_id, kind=OuterRef("kind")
    )
    requests = own.filter(Q(is_shown=True) | Q(is_shown=None, choice=IMMEDIATELY))
    is_hidden = Exists(own.filter(is_shown=False))
    return rows.filter(~is_hidden).filter(~Q(kind__in=_UNASKED) | Exists(requests))


_UNASKED = [name for name, kind in KINDS.items() if not kind.is_shown]


def unread_since(member: Member, mode: str) -> datetime:
    """From when on the member hasn't seen what a mode had to say."""
    return read_until(member, mode) or member.created_at


def unread_by(viewer: Viewer, user_id: Any, since: Any, read_ids: Any) -> "QuerySet[Notification]":
    """A person's unread notifications among the newest; at most UNREAD_MAX are counted. `read_ids`
    is an expression of the Member's."""
    rows = Notification.objects.filter(
        store_id=viewer.store_id, mode=viewer.mode, created_at__gt=since
    )
    newest = rows.order_by("-created_at").values("pk")[:NEWEST_MAX]
    place = Func(read_ids, F("pk"), function="array_position", output_field=IntegerField())
    rows = Notification.objects.filter(pk__in=newest).alias(place=place).filter(place=None)
    return _shown(viewer.store_id, user_id, rows)


def is_unread(member: Member, row: Notification) -> bool:
    return row.created_at > unread_since(member, row.mode) and row.pk not in member.read_ids


def mark_read(member: Member, row: Notification) -> None:
    """One by itself, whatever came before it."""
    with transaction.atomic():
        locked = Member.objects.select_for_update(no_key=True).get(pk=member.pk)
        if is_unread(locked, row):
            locked.read_ids = [*locked.read_ids, row.pk][-READ_MAX:]
            locked.save(update_fields=["read_ids"])


def mark_all_read(member: Member, mode: str) -> None:
    """All that a mode has so far; what was read by itself in the other stays so."""
    column = "live_read_at" if mode == Mode.LIVE else "test_read_at"
    with transaction.atomic():
        locked = Member.objects.select_for_update(no_key=True).get(pk=member.pk)
        here = Notification.objects.filter(
            store=locked.store_id, mode=mode, pk__in=locked.read_ids
        ).values_list("pk", flat=True)
        covered = set(here) if locked.read_ids else set()
        locked.read_ids = [id for id in locked.read_ids if id not in covered]
        setattr(locked, column, clock.real_now())
        locked.save(update_fields=["read_ids", column])


def of_long_ago(now: datetime) -> "QuerySet[Notification]":
    """Notifications of a year ago, to be deleted."""
    return Notification.objects.filter(created_at__lt=now - KEPT).exclude(told_at=None)
