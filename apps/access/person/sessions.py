"""A signed-in person as an access: the store and mode are those chosen in the dashboard, and
membership is asked each time."""

from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.sessions.models import Session
from django.db.models import (
    BooleanField,
    ExpressionWrapper,
    Q,
    QuerySet,
    UUIDField,
)

from apps.access.access import RECENT, Access
from apps.access.models import SignIn
from apps.access.person import entering, new_browsers
from apps.access.person.entering import SIGN_IN_KEY as SIGN_IN_KEY
from apps.access.person.entering import STORE_KEY as STORE_KEY
from apps.core import clock
from apps.core.db import tenancy
from apps.core.db.sql import BlankParameter, Statement, statement_of
from apps.core.models import Mode
from apps.stores import roles
from apps.stores.auditing import audit
from apps.stores.models import Member, Role, User
from apps.stores.staff.suspensions import SignInsSuspended

PROOF_KEY = "stepup"
FRESH = timedelta(minutes=5)
MODE_KEY = "mode"
BEGAN_AT_KEY = "began_at"
SEEN_AT_KEY = "seen_at"
LIFETIME = timedelta(hours=12)
IDLE = timedelta(minutes=30)
KEPT = timedelta(days=30)
STORES_SHOWN_MAX = 50
_SEEN_RESOLUTION = timedelta(minutes=1)


def begin(session: MutableMapping[str, Any], at: datetime) -> None:
    """Somebody has just signed in."""
    session[BEGAN_AT_KEY] = session[SEEN_AT_KEY] = at.isoformat()


def is_alive(user: User, session: Mapping[str, Any], at: datetime) -> bool:
    """True if the session is younger than 12 hours, was used within 30 minutes and wasn't ended
    from elsewhere. From here on the person of the request carries what was read about them."""
    if _age(session, BEGAN_AT_KEY, at) >= LIFETIME or _age(session, SEEN_AT_KEY, at) >= IDLE:
        return False
    return entering.enter(user, session).is_open


def touch(session: MutableMapping[str, Any], at: datetime) -> None:
    """The session is in use; kept to the minute, because each change is a write."""
    if BEGAN_AT_KEY not in session:
        begin(session, at)
    elif _age(session, SEEN_AT_KEY, at) >= _SEEN_RESOLUTION:
        session[SEEN_AT_KEY] = at.isoformat()
        _row_of(session).update(seen_at=at)


def keep(
    session: MutableMapping[str, Any], user: User, at: datetime, *, address: str, browser: str
) -> None:
    """The session is in use, by this browser; it is in the person's list from its first page
    on."""
    touch(session, at)
    if SIGN_IN_KEY not in session:
        row = SignIn.objects.create(
            user=user,
            began_at=datetime.fromisoformat(session[BEGAN_AT_KEY]),
            seen_at=at,
            address=address[:64],
            browser=" ".join(browser.replace("\x00", "").split())[:300],
            session_version=user.session_version,
        )
        session[SIGN_IN_KEY] = str(row.pk)
        new_browsers.note(row, user)


def adopt(session: Mapping[str, Any], user: User) -> None:
    """This session goes on although all of the person's have just ended."""
    _row_of(session).update(session_version=user.session_version)


def open_of(user: User, at: datetime) -> "QuerySet[SignIn]":
    """The person's sessions that are alive, the last used first."""
    rows = SignIn.objects.filter(user=user, ended_at=None, session_version=user.session_version)
    return rows.filter(began_at__gt=at - LIFETIME, seen_at__gt=at - IDLE).order_by("-seen_at")


def end(row: SignIn, at: datetime) -> None:
    """Nothing opens with that session any more."""
    SignIn.objects.filter(pk=row.pk, ended_at=None).update(ended_at=at)
    audit.record("session.ended", target=row, name=row.browser)


def leave(session: Mapping[str, Any], at: datetime) -> None:
    """The person signs out here."""
    _row_of(session).filter(ended_at=None).update(ended_at=at)


def tidy(at: datetime) -> None:
    """Forget sessions that ended a month ago, and Django's own rows of expired ones."""
    SignIn.objects.filter(seen_at__lt=at - KEPT).delete()
    new_browsers.tidy(at)
    Session.objects.filter(expire_date__lt=at).delete()


def _row_of(session: Mapping[str, Any]) -> "QuerySet[SignIn]":
    return SignIn.objects.filter(pk__in=[session[SIGN_IN_KEY]] if SIGN_IN_KEY in session else [])


def _age(session: Mapping[str, Any], key: str, at: datetime) -> timedelta:
    moment = session.get(key)
    return at - datetime.fromisoformat(moment) if moment else timedelta(0)


def member_of(user: Any, session: Mapping[str, Any]) -> Member | None:
    """The membership of the chosen store, else of the person's first open one; None when there is
    none.

    Of a closed store everybody reads the books and nobody changes anything, as an accountant does.
    """
    if not isinstance(user, User):
        return None
    entry = entering.entry_of(user)
    if entry is None or entry.store_id != session.get(STORE_KEY):
        entry = entering.read(user, session)
    member = entry.member
    if member is not None and member.store.deleted_at is not None:
        member.role = Role.ACCOUNTANT
    return member


class ChoosableStore(NamedTuple):
    """A store that a person can look at, as they choose among theirs."""

    store_id: UUID
    name: str
    is_closed: bool


def stores_of(user: User) -> list[ChoosableStore]:
    """By name, the first STORES_SHOWN_MAX of them."""
    return [ChoosableStore(*row) for row in _finding_stores().rows(user_id=user.pk)]


@cache
def _finding_stores() -> Statement:
    """Every page of the dashboard offers them, so it's drawn up once."""
    rows = memberships(BlankParameter("user_id", UUIDField())).select_related(None)
    is_closed = ExpressionWrapper(Q(store__deleted_at__isnull=False), BooleanField())
    in_order = rows.annotate(is_closed=is_closed).order_by("store__name", "store_id")
    columns = ("store_id", "store__name", "is_closed")
    return statement_of(in_order.values_list(*columns)[:STORES_SHOWN_MAX])


def memberships(user: User | BlankParameter) -> "QuerySet[Member]":
    """Memberships whose stores a person can open: open stores, and closed ones of their own, of
    which nobody sees more than they saw while they were open."""
    is_there = Q(store__deleted_at=None) | Q(
        store__platform=None, role__in=sorted(roles.TABLE[roles.VIEW])
    )
    return Member.objects.filter(is_there, user=user).select_related("store")


def mode_of(member: Member, session: Mapping[str, Any]) -> str:
    """The mode that the session looks at in this store, else the one that the person chose last in
    it; empty where they have chosen none."""
    is_same_store = session.get(STORE_KEY) in (None, str(member.store_id))
    chosen = session.get(MODE_KEY, "") if is_same_store else ""
    return next((mode for mode in (chosen, member.last_mode) if mode in Mode.values), "")


def look_away(session: MutableMapping[str, Any]) -> None:
    """The session looks at no store any more: the next page is of the person's first one."""
    session.pop(STORE_KEY, None)
    session.pop(MODE_KEY, None)


def look_at(session: MutableMapping[str, Any], store_id: UUID, mode: str = "") -> None:
    """The session looks at this store from now on. Without a mode it is the one that the person
    used last there."""
    session[STORE_KEY] = str(store_id)
    session.pop(MODE_KEY, None)
    if mode:
        session[MODE_KEY] = mode


def is_settled(member: Member, session: Mapping[str, Any]) -> bool:
    """True if the session says which store and mode it looks at, so that what the person does
    elsewhere doesn't change them here."""
    return session.get(STORE_KEY) == str(member.store_id) and MODE_KEY in session


def settle(session: MutableMapping[str, Any], user: User, member: Member, mode: str) -> None:
    """From now on the session looks at the store of the membership that was just read, in this
    mode."""
    look_at(session, member.store_id, mode)
    entry = entering.entry_of(user)
    if entry is not None:
        entry.store_id = session[STORE_KEY]


def choose_mode(session: MutableMapping[str, Any], user: User, member: Member, mode: str) -> None:
    """The person's mode in the store of the membership, here and where they sign in next; other
    sessions that are open stay in theirs."""
    settle(session, user, member, mode)
    Member.objects.filter(pk=member.pk).exclude(last_mode=mode).update(last_mode=mode)


def access_of(user: Any, session: Mapping[str, Any]) -> Access | None:
    """The access of a signed-in member, else None. Raises SignInsSuspended."""
    if not isinstance(user, User) or not is_alive(user, session, clock.real_now()):
        return None
    member = member_of(user, session)
    if member is None:
        return None
    if member.store.sign_ins_suspended_at is not None:
        raise SignInsSuspended
    return access_as(user, member, session)


def access_as(user: User, member: Member, session: Mapping[str, Any]) -> Access:
    """The access of somebody whose session and membership were just looked at. Who has never
    chosen a mode has test mode."""
    mode = mode_of(member, session) or Mode.TEST
    proof = RECENT if holds(session.get(PROOF_KEY), str(member.store_id), clock.real_now()) else ""
    access = Access.for_session(user, member.store, mode, member.role, proof)
    tenancy.narrow(access.store, modes=[access.mode])
    return access


def holds(proof: Mapping[str, Any] | None, store_id: str, at: datetime) -> bool:
    """True if a proof that the session keeps (stepup.note) is fresh, and was given for that
    store."""
    if proof is None or proof["store_id"] != store_id:
        return False
    proved = datetime.fromisoformat(proof["at"]).astimezone(UTC)
    return timedelta(0) <= at - proved <= FRESH
