"""Django's session and its person, which every page asks for first: two prepared statements in
place of queries that Django writes down each time."""

from functools import cache
from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import CharField, DateTimeField, UUIDField
from django.utils import timezone

from apps.core.db.sql import Blank, Statement, row_of, statement_of
from apps.stores.models import User


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Session | None:
        key = str(self.session_key)
        if "\x00" not in key:  # which no text of PostgreSQL has
            rows = _finding_session().rows(session_key=key, now=timezone.now())
            if rows:
                return row_of(Session, rows[0])
        self._session_key = None
        return None


@cache
def _finding_session() -> Statement:
    return statement_of(
        Session.objects.filter(
            session_key=Blank("session_key", CharField()),
            expire_date__gt=Blank("now", DateTimeField()),
        )
    )


class SignedInBackend(BaseBackend):
    """Finds the person of a session; passwords and rights are ModelBackend's."""

    def get_user(self, user_id: Any) -> User | None:
        rows = _finding_person().rows(id=user_id)
        return row_of(User, rows[0]) if rows else None


@cache
def _finding_person() -> Statement:
    return statement_of(User.objects.filter(pk=Blank("id", UUIDField()), is_active=True))
