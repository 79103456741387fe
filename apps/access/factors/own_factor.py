"""A person sets up their authenticator app, with the password; or takes it off, and adds or removes
what else opens the account, each with a code of its own.

A session alone must not be enough: anyone who found one open would own the account. Who signs in
with a passkey and has forgotten the password gets a link by email first
(apps.access.person.recovery).
"""

from datetime import datetime
from typing import Any

from apps.access import operations
from apps.access.factors import passkeys, second_factor
from apps.access.factors.stepup import Session
from apps.access.operations import PASSWORD
from apps.access.person import sign_in
from apps.core.models import Mode
from apps.stores.models import User


def enroll(user: User, code: str, *, password: str, address: str) -> list[str]:
    """The key that is pending comes into force; the backup codes, shown once. The person is
    notified by email.

    Raises sign_in.Refused, TooManyAttempts, WrongCode or AlreadyOn.
    """
    sign_in.by_password(user.email, password, address)
    operations.check_person(user, operations.FACTOR_ENROLL, Mode.LIVE, PASSWORD)
    return second_factor.confirm(user, code)


def remove(user: User, proof: str) -> None:
    """The password alone is enough again. The person is notified by email. Raises
    stepup.StepUpRequired."""
    operations.check_person(user, operations.FACTOR_REMOVE, Mode.LIVE, proof)
    second_factor.take_off(user)


def renew_codes(user: User, proof: str) -> list[str]:
    """Ten new backup codes; the old ones stop working, and the person is notified by email. Raises
    stepup.StepUpRequired."""
    operations.check_person(user, operations.CODES_RENEW, Mode.LIVE, proof)
    return second_factor.renew_backup_codes(user)


def add_passkey(
    session: Session, user: User, *, answer: str, name: str, at: datetime, proof: str
) -> Any:
    """Keep what the browser made. Raises stepup.StepUpRequired, or what passkeys.add does."""
    operations.check_person(user, operations.PASSKEY_ADD, Mode.LIVE, proof)
    return passkeys.add(session, user, answer=answer, name=name, at=at)


def remove_passkey(user: User, passkey: Any, proof: str) -> None:
    """It opens nothing any more. Raises stepup.StepUpRequired."""
    operations.check_person(user, operations.PASSKEY_REMOVE, Mode.LIVE, proof)
    passkeys.remove(passkey)
