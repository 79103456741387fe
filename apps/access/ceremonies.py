"""What is asked of devices that hold passkeys, and how their answers are checked."""

from typing import Any

from django_otp_webauthn.exceptions import OTPWebAuthnApiError
from django_otp_webauthn.helpers import WebAuthnHelper
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import UserVerificationRequirement

from apps.stores.models import User

# What is raised for an answer that isn't right.
REFUSED = (OTPWebAuthnApiError, WebAuthnException)


class Ceremonies(WebAuthnHelper):  # type: ignore[misc]  # django_otp_webauthn has no types
    def get_generate_registration_options_kwargs(self, *, user: User) -> Any:
        options = super().get_generate_registration_options_kwargs(user=user)
        options["authenticator_selection"].user_verification = UserVerificationRequirement.REQUIRED
        return options

    def get_credential_display_name(self, user: User) -> str:
        return user.name or user.email
