"""Django's session and its person, which every page asks for first: two prepared statements in
place of queries that Django writes down each time (decision 514)."""

from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from apps.core.db.prepared_reads import Rows
from apps.stores.models import User

_SESSION = Rows(Session, "WHERE session_key = %(session_key)s AND expire_date > %(now)s")
_PERSON = Rows(User, "WHERE id = %(id)s::uuid AND is_active")


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Session | None:
        key = str(self.session_key)
        if "\x00" not in key:  # which no text of PostgreSQL has
            rows = _SESSION.read(session_key=key, now=timezone.now())
            if rows:
                return rows[0]
        self._session_key = None
        return None


class SignedInBackend(BaseBackend):
    """Finds the person of a session; passwords and rights are ModelBackend's."""

    def get_user(self, user_id: Any) -> User | None:
        return next(iter(_PERSON.read(id=user_id)), None)
