"""Passkeys: added to an account that has an authenticator app, then taken instead of password and
code, or instead of a code.

The device has always verified the person. What is asked for is kept by the session, works once and
for five minutes.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import MutableMapping
from datetime import datetime, timedelta
from importlib import import_module
from secrets import token_bytes
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django_otp_webauthn.models import WebAuthnCredential
from django_otp_webauthn.settings import app_settings

from apps.access.factors import second_factor
from apps.access.person import entering, sign_in
from apps.core.db.constraints import refused_by
from apps.core.errors import Failure
from apps.core.messages.fields import Invalid, check_storable, is_deeper
from apps.core.text.wording import Worded
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.models import User

NAME_LENGTH_MAX = 60
ANSWER_LENGTH_MAX = 50_000
ANSWER_DEPTH_MAX = 8
KEPT_MAX = 20
_ONE_OF_EACH = "django_otp_webauthn_webauthncredential_credential_id_sha256_key"
_WAIT = timedelta(minutes=5)
_CHALLENGE_BYTES = 64
_ADD_KEY = "passkey_to_add"
_ASK_KEY = "passkey_asked"
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError)
Session = MutableMapping[str, Any]


class AppFirst(Failure):
    message = (
        "Set up an authenticator app first: its backup codes sign you in when the passkey is lost"
    )


class NotAdded(Failure):
    message = "The passkey could not be added. Try again."


class TooManyPasskeys(Failure):
    message = "You have too many passkeys. Remove one first."


class NotTaken(Failure):
    message = "That passkey was not taken. Try again, or use another way."


class BadPasskeyName(Failure):
    field = "name"
    message = f"A name has 1 to {NAME_LENGTH_MAX} characters"


def of(user: User) -> "QuerySet[Any]":
    """The person's passkeys, the newest first."""
    rows: QuerySet[Any] = WebAuthnCredential.objects.filter(user=user, confirmed=True).order_by(
        "-created_at"
    )
    return rows


def has_any(user: User) -> bool:
    """True if the person can answer with one."""
    entry = entering.entry_of(user)
    return of(user).exists() if entry is None else entry.has_passkey


def begin_adding(session: Session, user: User, at: datetime) -> str:
    """Options for the browser to create a passkey, as JSON. Raises AppFirst or TooManyPasskeys."""
    if second_factor.confirmed(user) is None:
        raise AppFirst
    if of(user).count() >= KEPT_MAX:
        raise TooManyPasskeys
    options, state = _ceremonies().Ceremonies(None).register_begin(user)
    session[_ADD_KEY] = {**state, "at": at.isoformat()}
    return json.dumps(options)


def add(session: Session, user: User, *, answer: str, name: str, at: datetime) -> Any:
    """Keep what the browser made. Raises NotAdded or BadName."""
    name = _name(name)
    state = _take_state(session, _ADD_KEY, at)
    if state is None or second_factor.confirmed(user) is None:
        raise NotAdded
    ceremonies = _ceremonies()
    try:
        with refused_by(_ONE_OF_EACH, NotAdded):
            passkey = ceremonies.Ceremonies(None).register_complete(user, state, _parse(answer))
            entering.forget(user)
            passkey.name = name
            passkey.save(update_fields=["name"])
            audit.record("passkey.added", target=passkey, name=name)
            account_emails.tell(user, Worded("A passkey was added: {name}", name=name))
    except (*ceremonies.REFUSED, Invalid, *_MALFORMED):
        raise NotAdded from None
    return passkey


def begin_asking(session: Session, user: User | None, at: datetime, act: str = "") -> str:
    """Options for the browser to use a passkey, as JSON: one of the person's, or without a person
    any that the device has.

    With an act (stepup) the answer is good for that act only.
    """
    if user is None:
        options, state = _ask_anyone()
    else:
        options, state = (
            _ceremonies().Ceremonies(None).authenticate_begin(user, require_user_verification=True)
        )
    session[_ASK_KEY] = {**state, "at": at.isoformat(), "act": act}
    return json.dumps(options)


def take(
    session: Session, user: User | None, *, answer: str, address: str, at: datetime, act: str = ""
) -> Any:
    """The passkey that answered; its `user` is who it is. Raises NotTaken, TooManyAttempts or
    Closed."""
    state = _take_state(session, _ASK_KEY, at)
    # Counted apart from passwords: guesses at those from the same address shut no passkey out.
    sign_in.count_attempt(f"passkey:{user.pk if user else address}", f"passkey:{address}")
    if state is None or state.pop("act", "") != act:
        raise NotTaken
    ceremonies = _ceremonies()
    try:
        passkey = ceremonies.Ceremonies(None).authenticate_complete(user, state, _parse(answer))
    except (*ceremonies.REFUSED, Invalid, *_MALFORMED):
        raise NotTaken from None
    if (
        not passkey.confirmed
        or not passkey.user.is_active
        or second_factor.confirmed(passkey.user) is None
    ):
        raise NotTaken
    return passkey


def rename(passkey: Any, name: str) -> None:
    """Raises BadName."""
    passkey.name = _name(name)
    passkey.save(update_fields=["name"])


def remove(passkey: Any) -> None:
    """It opens nothing any more."""
    with transaction.atomic():
        audit.record("passkey.removed", target=passkey, name=passkey.name)
        event = Worded("A passkey was removed: {name}", name=passkey.name)
        account_emails.tell(passkey.user, event)
        entering.forget(passkey.user)
        passkey.delete()


def _ask_anyone() -> tuple[dict[str, object], dict[str, object]]:
    """Options and state for a passkey of an unknown person. Anyone who looks at the page of signing
    in loads no library."""
    challenge = urlsafe_b64encode(token_bytes(_CHALLENGE_BYTES)).decode().rstrip("=")
    options = {
        "challenge": challenge,
        "timeout": app_settings.OTP_WEBAUTHN_TIMEOUT_SECONDS * 1000,
        "rpId": app_settings.OTP_WEBAUTHN_RP_ID,
        "allowCredentials": [],
        "userVerification": "required",
        "extensions": {},
    }
    return options, {"challenge": challenge, "require_user_verification": True}


def _ceremonies() -> Any:
    """Loaded by the first who uses a passkey: certificates and their formats are a tenth of what a
    process holds."""
    return import_module("apps.access.factors.ceremonies")


def _take_state(session: Session, key: str, at: datetime) -> dict[str, object] | None:
    """Takes the session's challenge, once."""
    state = session.pop(key, None)
    if state is None or not timedelta(0) <= at - datetime.fromisoformat(state["at"]) <= _WAIT:
        return None
    return dict(state)


def _parse(answer: str) -> dict[str, object]:
    if len(answer) > ANSWER_LENGTH_MAX or is_deeper(answer.encode(), ANSWER_DEPTH_MAX):
        raise ValueError
    data = json.loads(answer)
    if not isinstance(data, dict):
        raise TypeError
    check_storable(data)
    return data


def _name(name: str) -> str:
    name = " ".join(name.split())
    try:
        check_storable(name)
    except Invalid:
        raise BadPasskeyName from None
    if not 1 <= len(name) <= NAME_LENGTH_MAX:
        raise BadPasskeyName
    return name
