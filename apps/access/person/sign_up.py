"""Signing up: an email address that its reader proves with a code, before there is an account.

Anyone who types an address hears the same, whether it has an account or not; its reader learns
which. SIGN_UP says who may: anybody (`open`), whom the operator has invited (`invitation`), or
nobody (`closed`). A person whom a store invites joins that store whatever it says.
"""

import secrets
import unicodedata
import uuid
from collections.abc import Mapping, MutableMapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.utils.crypto import constant_time_compare, salted_hmac

from apps.access.person import sign_in
from apps.core import emails, mail
from apps.core.errors import Failure, NotFound, RefusalKind
from apps.stores.models import Member, Role, User
from apps.stores.profile import page_language
from apps.stores.services import check_password, create_user

OPEN = "open"
INVITATION = "invitation"
CLOSED = "closed"
CODE_LIFETIME = timedelta(minutes=15)
PROOF_LIFETIME = timedelta(hours=1)
INVITATION_LIFETIME = timedelta(days=7)
CODE_TRIES = 5
CODE_DIGITS = 6
STORES_MAX = 20
_SALT = "apps.access.sign_up"
_CODE_KEY = "sign_up"
_PROOF_KEY = "sign_up_proof"


class NotOpen(Failure):
    kind = RefusalKind.FORBIDDEN
    message = "New accounts are by invitation only"


class NobodyMay(NotOpen):
    message = "New accounts are closed"


class NoMoreStores(Failure):
    kind = RefusalKind.FORBIDDEN
    message = "You can't open another store here. Contact support to open one."


class TooManyEmails(Failure):
    kind = RefusalKind.TOO_MANY
    message = "This address has received too many emails today. Try again tomorrow."


class WrongEmailCode(Failure):
    field = "code"
    message = "That code is wrong or has expired. Check your email, or request a new code."


def is_open() -> bool:
    return str(settings.SIGN_UP) == OPEN


def is_closed() -> bool:
    return str(settings.SIGN_UP) == CLOSED


def begin(session: MutableMapping[str, Any], email: str, address: str, at: datetime) -> None:
    """Send a code to an address. Raises NotOpen, Invalid, TooManyEmails, TooManyAttempts or
    Closed."""
    if not is_open():
        raise NobodyMay if is_closed() else NotOpen
    email = emails.for_account(email)
    sign_in.count_attempt(f"sign-up:{emails.canonical(email)}", address)
    code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"
    is_known = User.objects.with_email(email) is not None
    context = {
        "email": email,
        "minutes": CODE_LIFETIME.seconds // 60,
        **({} if is_known else {"code": code}),
    }
    template = "sign_up_known" if is_known else "sign_up_code"
    if not mail.send(
        key=f"sign_up:{uuid.uuid4()}",
        to=email,
        template=template,
        context=context,
        language=page_language(),
    ):
        raise TooManyEmails
    session[_CODE_KEY] = {
        "email": email,
        "digest": _digest(email, code),
        "at": at.isoformat(),
        "tries": 0,
    }


def awaited(session: Mapping[str, Any]) -> str:
    """The address that a code was sent to from this browser; empty when there is none, or it isn't
    open any more."""
    pending = session.get(_CODE_KEY) if is_open() else None
    return str(pending["email"]) if pending else ""


def prove(session: MutableMapping[str, Any], code: str, address: str, at: datetime) -> None:
    """The code from the email. Raises WrongCode, TooManyAttempts or Closed."""
    pending = session.get(_CODE_KEY) if is_open() else None
    if not pending:
        raise WrongEmailCode
    sign_in.count_attempt(f"sign-up-code:{emails.canonical(pending['email'])}", address)
    session[_CODE_KEY] = pending = {**pending, "tries": pending["tries"] + 1}
    is_late = at - datetime.fromisoformat(pending["at"]) > CODE_LIFETIME
    digits = "".join(unicodedata.normalize("NFKC", code).split())
    is_right = constant_time_compare(_digest(pending["email"], digits), pending["digest"])
    if is_late or pending["tries"] > CODE_TRIES or not is_right:
        raise WrongEmailCode
    del session[_CODE_KEY]
    session[_PROOF_KEY] = {"email": pending["email"], "at": at.isoformat()}


def proved(session: Mapping[str, Any], at: datetime) -> str:
    """The address that was proved in this browser within the hour; empty when there is none, or it
    isn't open any more."""
    proof = session.get(_PROOF_KEY) if is_open() else None
    if not proof or at - datetime.fromisoformat(proof["at"]) > PROOF_LIFETIME:
        return ""
    return str(proof["email"])


def invite(email: str) -> str:
    """The operator sends somebody a link with which they sign up; the address as it was written to.
    Raises Invalid or TooManyEmails."""
    email = emails.for_account(email)
    token = signing.dumps(email, salt=_SALT)
    context = {"email": email, "token": token, "days": INVITATION_LIFETIME.days}
    if not mail.send(
        key=f"sign_up_invitation:{uuid.uuid4()}",
        to=email,
        template="sign_up_invitation",
        context=context,
    ):
        raise TooManyEmails
    return email


def invited(token: str) -> str:
    """The address that a link was sent to. Raises NotFound once it is too old, or the address has
    an account."""
    if is_closed():
        raise NotFound
    try:
        email = str(signing.loads(token, salt=_SALT, max_age=INVITATION_LIFETIME))
    except signing.BadSignature:
        raise NotFound from None
    if User.objects.with_email(email) is not None:
        raise NotFound
    return email


def count_account_attempt(email: str, address: str) -> None:
    """Raises TooManyAttempts or SignInUnavailable, before a password is hashed for an address."""
    sign_in.count_attempt(f"sign-up-store:{emails.canonical(email)}", address)


def create_account(email: str, name: str, password: str) -> User:
    """The account of a proved address. Raises BadPassword or EmailTaken."""
    check_password(password, User(email=email, name=name))
    return create_user(email, password, name=name, language=page_language())


def check_may_open(user: User) -> None:
    """Refuses a person who may not open another store. Raises NoMoreStores."""
    owned = Member.objects.filter(
        user=user, role=Role.OWNER, store__deleted_at=None, store__platform=None
    ).count()
    is_allowed = {OPEN: True, INVITATION: owned > 0}.get(str(settings.SIGN_UP), False)
    if not is_allowed or owned >= STORES_MAX:
        raise NoMoreStores


def may_open(user: User) -> bool:
    try:
        check_may_open(user)
    except NoMoreStores:
        return False
    return True


def _digest(email: str, code: str) -> str:
    return salted_hmac(_SALT, f"{email}:{code}", algorithm="sha256").hexdigest()
