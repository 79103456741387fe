"""Step-up: before a sensitive act a person with a second factor shows a fresh code.

The proof lives in one session for five minutes and holds for the store that was chosen then; a code
is never taken twice. What moves money or opens a way for it is an `act`: a digest of what is done.
A code for an act opens that act and nothing else, and no other does.
"""

import hashlib
import json
from collections.abc import MutableMapping
from datetime import datetime
from typing import Any

from django.db import InterfaceError, OperationalError

from apps.access.factors import passkeys, second_factor
from apps.access.person import sessions, sign_in
from apps.access.person.sessions import PROOF_KEY
from apps.core.errors import Failure, RefusalKind
from apps.stores.models import User

ACT_KEY = "stepup_act"
Session = MutableMapping[str, Any]
RETRY_SECONDS = 5


class StepUpRequired(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "otp_required"
    message = "Confirm with a code from your authenticator app"


class CodeInvalid(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "otp_invalid"
    field = "code"
    message = "The code is not right, or it has been used"


class SecondFactorRequired(Failure):
    kind = RefusalKind.FORBIDDEN
    code = "mfa_required"
    message = "Set up two-factor authentication first"


class TooManyCodes(Failure):
    kind = RefusalKind.TOO_MANY
    code = "rate_limited"
    field = "code"
    message = "Too many attempts"


class FactorCheckUnavailable(Failure):
    kind = RefusalKind.UNAVAILABLE
    code = "mfa_check_unavailable"
    message = "Two-factor authentication can't be checked right now"


class CodeCheckUnavailable(Failure):
    kind = RefusalKind.UNAVAILABLE
    code = "otp_check_unavailable"
    message = "Codes can't be checked right now"


def act_digest(*parts: object) -> str:
    """The digest of an act: who for, what, how much, where to."""
    return hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()


def take(
    session: Session,
    user: User,
    *,
    code: str = "",
    passkey: str = "",
    address: str,
    at: datetime,
    act: str = "",
) -> Any:
    """The factor that has answered: the passkey if one did, else the app. Raises what passkeys.take
    and sign_in.by_code raise."""
    if passkey:
        return passkeys.take(session, user, answer=passkey, address=address, at=at, act=act)
    return sign_in.by_code(user, code, address)


def prove_by_header(
    session: Session, user: User, code: str, address: str, at: datetime, act: str = ""
) -> None:
    """Take a code for this session, or for one act in it. Raises CodeInvalid, TooManyCodes or
    CodeCheckUnavailable."""
    try:
        sign_in.by_code(user, code, address)
        note(session, user, at, act)
    except second_factor.WrongCode:
        raise CodeInvalid from None
    except sign_in.TooManyAttempts as refusal:
        raise TooManyCodes(retry_after=refusal.retry_after) from None
    except (sign_in.SignInUnavailable, OperationalError, InterfaceError):
        raise CodeCheckUnavailable(retry_after=RETRY_SECONDS) from None


def require_second_factor(user: User) -> None:
    """Raises SecondFactorRequired, or FactorCheckUnavailable when nobody can tell."""
    try:
        factor = second_factor.confirmed(user)
    except (OperationalError, InterfaceError):
        raise FactorCheckUnavailable(retry_after=RETRY_SECONDS) from None
    if factor is None:
        raise SecondFactorRequired


def lacks_second_factor(user: User) -> bool:
    """True if a form should say beforehand that a second factor is missing; False when that can't
    be known, and the act itself is refused."""
    try:
        require_second_factor(user)
    except SecondFactorRequired:
        return True
    except FactorCheckUnavailable:
        return False
    return False


def note(session: Session, user: User, at: datetime, act: str = "") -> None:
    """A code has just been taken in this session: for the act, or for what needs no code of its
    own."""
    proof = {"at": at.isoformat(), "store_id": _store_of(session, user)}
    session[ACT_KEY if act else PROOF_KEY] = {**proof, "act": act} if act else proof


def is_fresh(session: Session, user: User, at: datetime, act: str = "") -> bool:
    """True if nothing more is needed: no second factor, or within the last five minutes a code for
    this act, in this store."""
    proof = session.get(ACT_KEY if act else PROOF_KEY)
    if (
        proof is not None
        and proof.get("act", "") == act
        and sessions.holds(proof, _store_of(session, user), at)
    ):
        return True
    return second_factor.confirmed(user) is None


def require(session: Session, user: User, at: datetime, act: str = "") -> None:
    """Raises StepUpRequired."""
    if not is_fresh(session, user, at, act):
        raise StepUpRequired


def spend(session: Session) -> None:
    """The act is done, and would be done again: the next time needs a code of its own."""
    session.pop(ACT_KEY, None)


def _store_of(session: Session, user: User) -> str:
    member = sessions.member_of(user, session)
    return str(member.store_id) if member is not None else ""
