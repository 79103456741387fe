"""The library of passkeys, whose tables every process knows and whose certificates only who uses a passkey needs."""

from apps.core.imports import postponed

# What its models name of WebAuthn itself.
_LATER = ("webauthn.helpers", "webauthn.helpers.structs")

with postponed(*_LATER):
    from django_otp_webauthn.apps import OtpWebauthnConfig


class PasskeysConfig(OtpWebauthnConfig):  # type: ignore[misc]  # django_otp_webauthn has no types
    def import_models(self) -> None:
        with postponed(*_LATER):
            super().import_models()
