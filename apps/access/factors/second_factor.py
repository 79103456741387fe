"""The second factor of a person: set up, confirmed by a first code, taken off. Its key is shown
once, while it is set up.

Every change signs the person out everywhere else.
"""

import secrets
from base64 import b32decode, b32encode
from urllib.parse import quote, urlencode

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop
from django_otp import verify_token
from django_otp_webauthn.models import WebAuthnCredential

from apps.access.models import SecondFactor
from apps.access.person import entering
from apps.core import clock, crypto
from apps.core.errors import Failure
from apps.core.text.wording import Worded
from apps.stores.auditing import audit
from apps.stores.emailing import account_emails
from apps.stores.models import User
from apps.stores.services import sign_out_everywhere

KEY_BYTES = 20
BACKUP_CODES = 10
BACKUP_CODE_BYTES = 10
# After so many in a row the person is notified: somebody knows the password.
WRONG_CODES_TOLD = 10


class WrongCode(Failure):
    field = "code"
    message = (
        "That code is not right. Codes change every 30 seconds and each works once; wait for the"
        " next one and try again."
    )


class AlreadyOn(Failure):
    message = "An authenticator app is already set up"


def confirmed(user: User) -> SecondFactor | None:
    """The person's second factor, None when sign-in takes the password alone."""
    entry = entering.entry_of(user)
    if entry is not None:
        return entry.factor
    factor: SecondFactor | None = SecondFactor.objects.filter(user=user, confirmed=True).first()
    return factor


def begin(user: User, *, secret: str = "", is_confirmed: bool = False) -> SecondFactor:
    """A new key (or the base32 `secret`), not in force until a code of it has been seen, unless it
    `is_confirmed` at once. Raises AlreadyOn."""
    if confirmed(user) is not None:
        raise AlreadyOn
    key = b32decode(secret).hex() if secret else secrets.token_hex(KEY_BYTES)
    SecondFactor.objects.filter(user=user, confirmed=False).delete()
    factor = SecondFactor(
        user=user, name="Authenticator app", confirmed=is_confirmed, created_at=clock.real_now()
    )
    factor.sealed_key = crypto.encrypt(key, factor.place("sealed_key"))
    factor.save()
    entering.forget(user)
    return factor


def pending(user: User) -> SecondFactor:
    """The key that is being set up; the same one until it is confirmed, so that a reload keeps the
    picture. Raises AlreadyOn."""
    factor: SecondFactor | None = SecondFactor.objects.filter(user=user, confirmed=False).first()
    return factor or begin(user)


def confirm(user: User, code: str) -> list[str]:
    """Put the pending key in force; the new backup codes, which are shown once. Raises WrongCode or
    AlreadyOn."""
    factor = pending(user)
    verify(user, factor, code)
    factor.refresh_from_db()
    factor.confirmed = True
    entering.forget(user)
    with transaction.atomic():
        codes = _new_backup_codes(factor)
        sign_out_everywhere(user)
        audit.record("second_factor.set_up", target=user, name=user.email)
        account_emails.tell(user, gettext_noop("An authenticator app was set up"))
    return codes


def switch_on(user: User, secret: str) -> SecondFactor:
    """For operators and the demo: in force at once, with a known base32 key."""
    return begin(user, secret=secret, is_confirmed=True)


def renew_backup_codes(user: User) -> list[str]:
    """Ten new codes; the old ones stop working."""
    factor = confirmed(user)
    if factor is None:
        raise Failure("Set up an authenticator app first")
    with transaction.atomic():
        audit.record("second_factor.codes_renewed", target=user, name=user.email)
        account_emails.tell(user, gettext_noop("New backup codes were created"))
        return _new_backup_codes(factor)


def take_off(user: User) -> None:
    """The password alone is enough again; passkeys go with the app, whose backup codes replaced
    them."""
    with transaction.atomic():
        WebAuthnCredential.objects.filter(user=user).delete()
        SecondFactor.objects.filter(user=user).delete()
        entering.forget(user)
        sign_out_everywhere(user)
        audit.record("second_factor.removed", target=user, name=user.email)
        account_emails.tell(user, gettext_noop("Your authenticator app was removed"))


def verify(user: User, factor: SecondFactor, code: str) -> None:
    """Take one code: a right one of the app by one statement, which finds the row as it was read,
    any other under the row's lock. Raises WrongCode, also while the person must wait."""
    if factor.takes_at_once(code) or verify_token(user, factor.persistent_id, code) is not None:
        return
    before = factor.throttling_failure_count
    factor.refresh_from_db(fields=["throttling_failure_count"])
    if before != factor.throttling_failure_count == WRONG_CODES_TOLD:
        event = Worded(
            "{count} wrong codes in a row were entered for your account", count=WRONG_CODES_TOLD
        )
        account_emails.tell(user, event)
    raise WrongCode


def base32_key(factor: SecondFactor) -> str:
    return b32encode(bytes.fromhex(factor.key)).decode()


def provisioning_uri(factor: SecondFactor) -> str:
    """URI in the QR code for an authenticator app."""
    issuer = settings.OTP_TOTP_ISSUER
    query = urlencode(
        {
            "secret": base32_key(factor),
            "algorithm": "SHA1",
            "digits": factor.DIGITS,
            "period": factor.STEP_SECONDS,
            "issuer": issuer,
        }
    )
    return f"otpauth://totp/{quote(issuer)}:{quote(factor.user.email)}?{query}"


def _new_backup_codes(factor: SecondFactor) -> list[str]:
    codes = [
        b32encode(secrets.token_bytes(BACKUP_CODE_BYTES)).decode() for _ in range(BACKUP_CODES)
    ]
    factor.keep_backup_codes(codes)
    factor.save()
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]
