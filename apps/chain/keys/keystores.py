"""The configured keystore, the seed that it opens, and the hot wallets' keys that it keeps: each
found once per process."""

from functools import cache
from pathlib import Path
from typing import cast

from coincurve import PublicKey
from django.conf import settings
from django.utils.module_loading import import_string

from apps.chain.keys.secp256k1 import address_of, canonical
from apps.chain.keys.seeds import Seed, seed_in
from apps.chain.providers.base import Keystore, KeystoreError, lane_name
from apps.core.errors import ErrorCode


class Unsigned(Exception):
    """The keystore hasn't signed these digests yet: leave the transaction, have them signed, and
    begin again."""

    def __init__(self, digests: list[bytes]) -> None:
        self.digests = digests
        super().__init__(f"{len(digests)} digests")


class HotKey:
    """The key of a hot wallet, named by `lane_name`, wherever it is kept. What it signs is looked
    at: nothing but its own signature is passed on.

    A keystore that isn't near is never asked inside a transaction: there `need` says what is
    missing, and `ask` gets it outside.
    """

    def __init__(self, keystore: Keystore, lane: str) -> None:
        """Raises KeystoreError."""
        self._keystore = keystore
        self._lane = lane
        self._signed: dict[bytes, tuple[int, int, int]] = {}
        try:
            self.public_key = keystore.public_key(lane)
            self.address = address_of(PublicKey(self.public_key))
        except ValueError:
            raise KeystoreError(
                ErrorCode.MALFORMED, f"What is kept for {lane} mode is no key of the curve"
            ) from None

    def need(self, digests: list[bytes]) -> None:
        """Raises Unsigned for those that `sign` couldn't sign at once; signatures of others are
        forgotten."""
        if self._keystore.is_near:
            return
        self._signed = {
            digest: self._signed[digest] for digest in digests if digest in self._signed
        }
        missing = [digest for digest in digests if digest not in self._signed]
        if missing:
            raise Unsigned(missing)

    def ask(self, digests: list[bytes]) -> None:
        """Have them signed. Not inside a transaction. Raises KeystoreError."""
        for digest in digests:
            self._signed[digest] = self._asked(digest)

    def sign(self, digest: bytes) -> tuple[int, int, int]:
        """(parity, r, s). Raises Unsigned for what nobody asked for before, and KeystoreError."""
        if self._keystore.is_near:
            return self._asked(digest)
        if digest not in self._signed:
            raise Unsigned([digest])
        return self._signed[digest]

    def _asked(self, digest: bytes) -> tuple[int, int, int]:
        r, s = self._keystore.sign(self._lane, digest)
        try:
            return canonical(self.address, digest, r, s)
        except ValueError:
            raise KeystoreError(
                ErrorCode.MALFORMED,
                f"What came back for {self._lane} mode is no signature of its key",
            ) from None


@cache
def keystore() -> Keystore:
    """That of SIGNER_KEYSTORE."""
    entry = settings.PROVIDERS["keys"]["live"][0]
    return cast(Keystore, import_string(entry["BACKEND"])(**entry["OPTIONS"]))


@cache
def seed() -> Seed:
    """Opened once per process. Raises KeyFileRefused and KeystoreError."""
    return seed_in(Path(settings.SIGNER_KEY_FILE), keystore())


@cache
def hot_key(mode: str, number: int = 0) -> HotKey:
    """Raises KeyFileRefused and KeystoreError."""
    return HotKey(keystore(), lane_name(mode, number))
