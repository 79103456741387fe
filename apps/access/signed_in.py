"""Django's session and its person, which every page asks for first: two prepared statements in
place of queries that Django writes down each time."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django_otp import DEVICE_ID_SESSION_KEY
from django_otp.models import Device

from apps.core.db.prepared_reads import Rows
from apps.stores.models import User

_SESSION = Rows(Session, "WHERE session_key = %(session_key)s AND expire_date > %(now)s")
_PERSON = Rows(User, "WHERE id = %(id)s::uuid AND is_active")


class SessionStore(db.SessionStore):
    def save(self, must_create: bool = False) -> None:
        """A session that is there is written by one statement; Django's takes a transaction for
        it."""
        if must_create or self.session_key is None:
            super().save(must_create=must_create)
            return
        row = self.create_model_instance(dict(self.items()))
        values = {"session_data": row.session_data, "expire_date": row.expire_date}
        if not Session.objects.filter(pk=row.session_key).update(**values):
            raise UpdateError

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


class FactorOfSession:
    """`request.user.is_verified()`, which the staff site asks: whether this session has shown the
    person's second factor. django_otp's own middleware reads the factor for every page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        user = request.user
        request.user = SimpleLazyObject(partial(_with_factor, request, user))  # type: ignore[assignment]  # as Django's own
        return self._get_response(request)


def _with_factor(request: HttpRequest, user: Any) -> Any:
    user.otp_device = None
    user.is_verified = partial(_is_verified, request, user)
    return user


def _is_verified(request: HttpRequest, user: Any) -> bool:
    device = user.otp_device
    device_id = request.session.get(DEVICE_ID_SESSION_KEY)
    if device is None and device_id is not None and user.is_authenticated:
        device = Device.from_persistent_id(device_id)
    return device is not None and device.user_id == user.pk and bool(device.confirmed)
