"""A signed-in person as an access: the store and mode are those chosen in the dashboard, and membership is asked each time."""

from collections.abc import Mapping, MutableMapping
from datetime import datetime, timedelta
from typing import Any

from apps.access.access import Access
from apps.core import clock
from apps.core.models import Mode
from apps.stores.models import Member, User

STORE_KEY, MODE_KEY = "store_id", "mode"
BEGAN_AT_KEY, SEEN_AT_KEY = "began_at", "seen_at"
LIFETIME, IDLE = timedelta(hours=12), timedelta(minutes=30)
_SEEN_RESOLUTION = timedelta(minutes=1)


def begin(session: MutableMapping[str, Any], at: datetime) -> None:
    """Somebody has just signed in."""
    session[BEGAN_AT_KEY] = session[SEEN_AT_KEY] = at.isoformat()


def is_alive(session: Mapping[str, Any], at: datetime) -> bool:
    """Whether the session is younger than 12 hours and was used within 30 minutes."""
    return _age(session, BEGAN_AT_KEY, at) < LIFETIME and _age(session, SEEN_AT_KEY, at) < IDLE


def touch(session: MutableMapping[str, Any], at: datetime) -> None:
    """The session is in use; kept to the minute, because each change is a write."""
    if BEGAN_AT_KEY not in session:
        begin(session, at)
    elif _age(session, SEEN_AT_KEY, at) >= _SEEN_RESOLUTION:
        session[SEEN_AT_KEY] = at.isoformat()


def _age(session: Mapping[str, Any], key: str, at: datetime) -> timedelta:
    moment = session.get(key)
    return at - datetime.fromisoformat(moment) if moment else timedelta(0)


def member_of(user: Any, session: Mapping[str, Any]) -> Member | None:
    """The membership of the chosen store, else of the person's first; None when there is none."""
    if not isinstance(user, User):
        return None
    members = Member.objects.filter(user=user, store__deleted_at=None).select_related("store").order_by("created_at")
    wanted = session.get(STORE_KEY)
    return (members.filter(store_id=wanted).first() if wanted else None) or members.first()


def access_of(user: Any, session: Mapping[str, Any]) -> Access | None:
    """The access of a signed-in member, else None. A new session begins in test mode."""
    member = member_of(user, session)
    if member is None or not isinstance(user, User) or not is_alive(session, clock.real_now()):
        return None
    mode = session.get(MODE_KEY, Mode.TEST)
    return Access.for_session(user, member.store, mode if mode in Mode.values else Mode.TEST, member.role)
