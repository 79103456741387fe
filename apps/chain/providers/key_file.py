"""The keystore of a machine without another: a passphrase opens the key file (scrypt), and the seed
in it signs for the hot wallets."""

import os
from pathlib import Path

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings

from apps.chain.keys.secp256k1 import DIGEST_BYTES, SigningKey
from apps.chain.keys.seeds import KeyFileRefused, seed_in
from apps.chain.providers.base import KeystoreError, parts_of
from apps.core.errors import ErrorCode
from apps.core.process import published_secrets

PASSPHRASE_MIN = 12
_SCRYPT_N = 2**15
_SCRYPT_R = 8
_SCRYPT_P = 1


class KeyFile:
    """That of SIGNER_KEY_FILE and SIGNER_PASSPHRASE (in the environment of the signer alone),
    unless others are given."""

    name = "file"
    opens_with = "SIGNER_PASSPHRASE"
    is_near = True

    def __init__(self, path: str = "", passphrase: str = "") -> None:
        self._path = Path(path or settings.SIGNER_KEY_FILE)
        self._passphrase = passphrase
        self._keys: dict[str, SigningKey] = {}
        self._data_keys: dict[bytes, bytes] = {}

    def public_key(self, lane: str) -> bytes:
        return self._key(lane).public_key

    def sign(self, lane: str, digest: bytes) -> tuple[int, int]:
        if len(digest) != DIGEST_BYTES:
            raise KeystoreError(ErrorCode.REFUSED, "A digest has 32 bytes")
        _, r, s = self._key(lane).sign(digest)
        return r, s

    def new_data_key(self) -> tuple[bytes, bytes]:
        salt = os.urandom(16)
        return self.data_key(salt), salt

    def data_key(self, wrapped: bytes) -> bytes:
        passphrase = self._passphrase or configured_passphrase()
        if len(passphrase) < PASSPHRASE_MIN:
            raise KeyFileRefused(
                f"SIGNER_PASSPHRASE must have at least {PASSPHRASE_MIN} characters"
            )
        if wrapped not in self._data_keys:  # stretched once, for the seed and every lane
            stretch = Scrypt(salt=wrapped, length=32, n=_SCRYPT_N, r=_SCRYPT_R, p=_SCRYPT_P)
            self._data_keys[wrapped] = stretch.derive(passphrase.encode())
        return self._data_keys[wrapped]

    def _key(self, lane: str) -> SigningKey:
        if lane not in self._keys:
            self._keys[lane] = seed_in(self._path, self).hot_key(*parts_of(lane))
        return self._keys[lane]


def configured_passphrase() -> str:
    """From the environment of the signer alone; outside production the published one is used.
    Raises KeyFileRefused."""
    passphrase = os.environ.get("SIGNER_PASSPHRASE", "")
    published = published_secrets.SIGNER_PASSPHRASE
    if not settings.IS_PRODUCTION:
        return passphrase or published
    if not passphrase:
        raise KeyFileRefused(
            "SIGNER_PASSPHRASE is missing: set it in the environment of the signer"
        )
    if passphrase == published:
        raise KeyFileRefused("SIGNER_PASSPHRASE holds the published demo value: choose your own")
    return passphrase
