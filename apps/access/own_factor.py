"""A person sets up their authenticator app, or takes it off: with the password, or a fresh code of
it.

A session alone must not be enough: whoever found one open would own the account. Who signs in with
a passkey and has forgotten the password gets a link by email first (apps.access.recovery).
"""

from apps.access import operations, second_factor, sign_in
from apps.access.operations import PASSWORD
from apps.core.models import Mode
from apps.stores.models import User


def enroll(user: User, code: str, *, password: str, address: str) -> list[str]:
    """The key that is pending comes into force; the backup codes, shown once. The person is told by
    email.

    Raises sign_in.Refused, TooManyAttempts, WrongCode or AlreadyOn.
    """
    sign_in.by_password(user.email, password, address)
    operations.check_person(user, operations.FACTOR_ENROLL, Mode.LIVE, PASSWORD)
    return second_factor.confirm(user, code)


def remove(user: User, proof: str) -> None:
    """The password alone is enough again. The person is told by email. Raises
    stepup.StepUpRequired."""
    operations.check_person(user, operations.FACTOR_REMOVE, Mode.LIVE, proof)
    second_factor.take_off(user)
