"""Libraries whose tables every process knows, and whose cryptography only few: they are loaded
without it."""

from apps.core.process.imports import postponed

# What the models name of WebAuthn; of signed tokens, of which ours are none; of the OAuth server,
# which web alone is; and a pattern that takes longer to compile than all others together.
_LATER = (
    "webauthn.helpers",
    "webauthn.helpers.structs",
    "jwcrypto",
    "jwcrypto.common",
    "oauthlib.oauth2.rfc6749",
    "oauth2_provider.validators",
)

with postponed(*_LATER):
    from django_otp_webauthn.apps import OtpWebauthnConfig
    from oauth2_provider.apps import DOTConfig


class PasskeysConfig(OtpWebauthnConfig):  # type: ignore[misc]  # django_otp_webauthn has no types
    def import_models(self) -> None:
        with postponed(*_LATER):
            super().import_models()


class OAuthConfig(DOTConfig):  # type: ignore[misc]  # oauth2_provider has no types
    def import_models(self) -> None:
        with postponed(*_LATER):
            super().import_models()
