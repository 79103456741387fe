"""Step-up: before a sensitive act a person with a second factor shows a fresh code.

The proof lives in one session for five minutes; a code that was taken once is never taken again.
"""

import hashlib
from collections.abc import MutableMapping
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.access import second_factor, sign_in
from apps.access.models import SecondFactor
from apps.core.errors import Coded
from apps.stores.models import User

FRESH = timedelta(minutes=5)
PROVED_AT_KEY = "stepup_at"
Session = MutableMapping[str, Any]


class StepUpRequired(Coded):
    status = 403
    code = "step_up_required"
    message = "Confirm with a code from your authenticator app"


def digest(*parts: object) -> str:
    """One act as a short text: what is done, with every amount and destination in it."""
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()


def prove(session: Session, user: User, code: str, address: str, at: datetime) -> SecondFactor:
    """Take a code for this session. Raises what sign_in.by_code raises."""
    factor = sign_in.by_code(user, code, address)
    note(session, at)
    return factor


def note(session: Session, at: datetime) -> None:
    """A code has just been taken in this session."""
    session[PROVED_AT_KEY] = at.isoformat()


def is_fresh(session: Session, user: User, at: datetime) -> bool:
    """Whether nothing more is needed: no second factor, or a code within the last five minutes."""
    return second_factor.confirmed(user) is None or _is_recent(session.get(PROVED_AT_KEY), at)


def require(session: Session, user: User, at: datetime) -> None:
    """Raises StepUpRequired."""
    if not is_fresh(session, user, at):
        raise StepUpRequired


def _is_recent(moment: Any, at: datetime) -> bool:
    if not isinstance(moment, str):
        return False
    proved = datetime.fromisoformat(moment).astimezone(UTC)
    return timedelta(0) <= at - proved <= FRESH
