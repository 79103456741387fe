"""Sign-in: e-mail address and password, then a code when a second factor is in force.

Counted per account and per address; a person who doesn't exist gets the same answer after the same work.
"""

from django.contrib.auth import authenticate as check_password

from apps.access import second_factor
from apps.access.models import SecondFactor
from apps.core import buckets
from apps.core.errors import Flat
from apps.core.literal import Invalid, check_storable
from apps.stores.models import User
from apps.stores.services import PASSWORD_LENGTH_MAX

POLICY = "sign_in"
EMAIL_LENGTH_MAX = 254


class Refused(Flat):
    status = 401
    message = "That e-mail address and password don't belong together"


class TooManyAttempts(Flat):
    status = 429
    message = "Too many attempts. Wait a moment and try again."


class Closed(Flat):
    """Without the counter nobody may guess, so nobody signs in."""

    status = 503
    message = "Signing in is not possible right now. Try again in a moment."


def count_attempt(account: str, address: str) -> None:
    """One attempt on an account from an address. Raises TooManyAttempts or Closed."""
    for whose in (f"account:{account.casefold()}", f"address:{address}"):
        try:
            taken = buckets.take(POLICY, "live", whose)
        except buckets.Unavailable:
            raise Closed(headers={"Retry-After": "5"}) from None
        if taken.is_limited:
            raise TooManyAttempts(headers={"Retry-After": str(taken.retry_after_seconds)})


def by_password(email: str, password: str, address: str) -> tuple[User, SecondFactor | None]:
    """The person, and the factor that must be shown next. Raises Refused, TooManyAttempts or Closed."""
    email = email.strip()
    try:
        check_storable([email, password])
    except Invalid:
        raise Refused from None
    if len(email) > EMAIL_LENGTH_MAX or len(password) > PASSWORD_LENGTH_MAX:
        raise Refused
    count_attempt(email, address)
    user = check_password(username=email, password=password)
    if not isinstance(user, User):
        raise Refused
    return user, second_factor.confirmed(user)


def by_code(user: User, code: str, address: str) -> SecondFactor:
    """The factor that took the code. Raises WrongCode, TooManyAttempts or Closed."""
    count_attempt(f"code:{user.pk}", address)
    factor = second_factor.confirmed(user)
    if factor is None:
        raise second_factor.WrongCode
    second_factor.verify(user, factor, code)
    return factor
