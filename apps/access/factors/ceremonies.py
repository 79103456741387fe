"""Passkey ceremonies: the challenges for devices and the verification of their answers.

Asking needs no cryptography, and an answer none of the makers' statements about their devices, for
which we don't ask: each is loaded by anyone who needs it first.
"""

from importlib import import_module
from typing import Any

from apps.core.process.imports import postponed

_VERIFIERS = (
    "webauthn.authentication.verify_authentication_response",
    "webauthn.registration.verify_registration_response",
)
_CRYPTOGRAPHY = (
    "webauthn.helpers.decoded_public_key_to_cryptography",
    "webauthn.helpers.validate_certificate_chain",
    "webauthn.helpers.verify_signature",
)
_STATEMENTS = tuple(
    f"webauthn.registration.formats.{format_name}"
    for format_name in ("android_key", "android_safetynet", "apple", "fido_u2f", "packed", "tpm")
)

with postponed(*_VERIFIERS, *_CRYPTOGRAPHY):
    from django_otp_webauthn.exceptions import OTPWebAuthnApiError
    from django_otp_webauthn.helpers import WebAuthnHelper
    from webauthn.helpers.exceptions import WebAuthnException
    from webauthn.helpers.structs import UserVerificationRequirement

from apps.stores.models import User  # noqa: E402  # beside what was put off

# What is raised for an answer that isn't right.
REFUSED = (OTPWebAuthnApiError, WebAuthnException)


class Ceremonies(WebAuthnHelper):  # type: ignore[misc]  # django_otp_webauthn has no types
    def get_generate_registration_options_kwargs(self, *, user: User) -> Any:
        options = super().get_generate_registration_options_kwargs(user=user)
        options["authenticator_selection"].user_verification = UserVerificationRequirement.REQUIRED
        return options

    def get_credential_display_name(self, user: User) -> str:
        return user.name or user.email

    def register_complete(self, user: User, state: object, data: object) -> Any:
        _load_verifiers()
        return super().register_complete(user, state, data)

    def authenticate_complete(self, user: User | None, state: object, data: object) -> Any:
        _load_verifiers()
        return super().authenticate_complete(user, state, data)


def _load_verifiers() -> None:
    with postponed(*_STATEMENTS):
        for name in _VERIFIERS:
            import_module(name)
