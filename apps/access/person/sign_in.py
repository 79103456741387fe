"""Sign-in: email address and password, then a code when a second factor is in force.

Counted per account and per address; a person who doesn't exist gets the same answer after the same
work.
"""

import secrets
from datetime import timedelta

from django.contrib.auth import authenticate as check_password
from django.core import signing

from apps.access.factors import second_factor
from apps.access.models import SecondFactor
from apps.core import emails
from apps.core.errors import Failure, RefusalKind
from apps.core.messages.fields import Invalid, check_storable
from apps.core.redis import buckets
from apps.stores.models import User
from apps.stores.services import PASSWORD_LENGTH_MAX

POLICY = "sign_in"
DEVICE_LIFETIME = timedelta(days=180)
_DEVICE = "device:"
_DEVICE_SALT = "apps.access.sign_in.device"
EMAIL_LENGTH_MAX = 254


class SignInRefused(Failure):
    kind = RefusalKind.UNAUTHENTICATED
    field = "password"
    message = "Wrong email or password"


class TooManyAttempts(Failure):
    kind = RefusalKind.TOO_MANY
    message = "Too many attempts. Wait a moment and try again."


class SignInUnavailable(Failure):
    """Without the counter nobody may guess, so nobody signs in."""

    kind = RefusalKind.UNAVAILABLE
    message = "Signing in is not possible right now. Try again in a moment."


def device_token(user: User) -> str:
    """Cookie value by which a browser is recognized later; it opens nothing."""
    return signing.dumps([str(user.pk), secrets.token_urlsafe(12)], salt=_DEVICE_SALT)


def place_of(token: str, user: User | None, address: str) -> str:
    """Key of the place of an attempt: the device on which this person signed in before, else the
    address."""
    try:
        owner, device = signing.loads(token, salt=_DEVICE_SALT, max_age=DEVICE_LIFETIME)
    except (signing.BadSignature, ValueError, TypeError):
        return address
    return f"{_DEVICE}{device}" if user is not None and owner == str(user.pk) else address


def count_attempt(account: str, place: str) -> None:
    """Counts an attempt on an account from a place. Raises TooManyAttempts or SignInUnavailable.

    The place is counted first: who has tried too often from there takes nothing from the account
    any more. A device that the account knows is counted by itself, so strangers don't shut it out.
    """
    is_known = place.startswith(_DEVICE)
    for bucket in (f"address:{place}", *(() if is_known else (f"account:{account.casefold()}",))):
        try:
            allowance = buckets.take(POLICY, "live", bucket)
        except buckets.Unavailable:
            raise SignInUnavailable(retry_after=5) from None
        if allowance.is_limited:
            raise TooManyAttempts(retry_after=allowance.retry_after_seconds)


def by_password(
    email: str, password: str, address: str, device: str = ""
) -> tuple[User, SecondFactor | None]:
    """The person, and the factor that must be shown next; `device` is the token of the browser.

    Raises SignInRefused, TooManyAttempts or SignInUnavailable.
    """
    email = email.strip()
    try:
        check_storable([email, password])
    except Invalid:
        raise SignInRefused from None
    if len(email) > EMAIL_LENGTH_MAX or len(password) > PASSWORD_LENGTH_MAX:
        raise SignInRefused
    holder = User.objects.with_email(email) if device else None
    count_attempt(emails.canonical(email), place_of(device, holder, address))
    user = check_password(username=email, password=password)
    if not isinstance(user, User):
        raise SignInRefused
    return user, second_factor.confirmed(user)


def by_code(user: User, code: str, place: str) -> SecondFactor:
    """The factor that took the code. Raises WrongCode, TooManyAttempts or SignInUnavailable."""
    count_attempt(f"code:{user.pk}", place)
    factor = second_factor.confirmed(user)
    if factor is None:
        raise second_factor.WrongCode
    second_factor.verify(user, factor, code)
    return factor
