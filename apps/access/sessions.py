"""A signed-in person as an access: the store and mode are those chosen in the dashboard, and membership is asked each time."""

from collections.abc import Mapping
from typing import Any

from apps.access.access import Access
from apps.core.models import Mode
from apps.stores.models import Member, User

STORE_KEY, MODE_KEY = "store_id", "mode"


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
    if member is None or not isinstance(user, User):
        return None
    mode = session.get(MODE_KEY, Mode.TEST)
    return Access.for_session(user, member.store, mode if mode in Mode.values else Mode.TEST)
