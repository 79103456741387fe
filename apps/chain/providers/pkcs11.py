"""A PKCS#11 token (an HSM): it signs for the hot wallets and opens the key file, and no key of its
ever leaves it.

The library of the token's maker is loaded into the signer; a session that was lost is opened anew
by the next call.
"""

import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from apps.chain.keys.secp256k1 import DIGEST_BYTES, POINT_BYTES
from apps.chain.providers.base import KeystoreError, key_name
from apps.core.errors import ErrorCode

_IV_BYTES = 16
_HALF = 32
_OCTET_STRING = bytes([0x04, POINT_BYTES])
Answer = TypeVar("Answer")


class HardwareToken:
    """`keys` names the keys of each mode by their labels; the PIN is PKCS11_PIN, in the environment
    of the signer alone."""

    name = "pkcs11"
    opens_with = "The PKCS#11 token"
    is_near = False

    def __init__(self, module: str, token: str, keys: dict[str, str], wrapping_key: str) -> None:
        self._module = module
        self._token = token
        self._labels = keys
        self._wrapping = wrapping_key
        self._session: Any = None
        self._turn = threading.Lock()

    def public_key(self, lane: str) -> bytes:
        label = key_name(self._labels, lane)
        return self._asked(lambda session: _point(session, label))

    def sign(self, lane: str, digest: bytes) -> tuple[int, int]:
        if len(digest) != DIGEST_BYTES:
            raise KeystoreError(ErrorCode.REFUSED, "A digest has 32 bytes")
        from pkcs11 import Mechanism, ObjectClass

        label = key_name(self._labels, lane)

        def sign(session: Any) -> bytes:
            key = session.get_key(object_class=ObjectClass.PRIVATE_KEY, label=label)
            return bytes(key.sign(digest, mechanism=Mechanism.ECDSA))

        raw = self._asked(sign)
        return int.from_bytes(raw[:_HALF]), int.from_bytes(raw[_HALF:])

    def new_data_key(self) -> tuple[bytes, bytes]:
        data_key = os.urandom(32)
        iv = os.urandom(_IV_BYTES)
        return data_key, iv + self._asked(
            lambda session: self._wrap(session, "encrypt", data_key, iv)
        )

    def data_key(self, wrapped: bytes) -> bytes:
        """A form that was tampered with gives another key, or none; the seal of the file tells."""
        iv = wrapped[:_IV_BYTES]
        sealed = wrapped[_IV_BYTES:]
        return self._asked(lambda session: self._wrap(session, "decrypt", sealed, iv))

    def _wrap(self, session: Any, act: str, data: bytes, iv: bytes) -> bytes:
        from pkcs11 import Mechanism, ObjectClass

        key = session.get_key(object_class=ObjectClass.SECRET_KEY, label=self._wrapping)
        return bytes(getattr(key, act)(data, mechanism=Mechanism.AES_CBC_PAD, mechanism_param=iv))

    def _asked(self, ask: Callable[[Any], Answer]) -> Answer:
        import pkcs11

        try:
            with self._turn:  # a session does one thing at a time
                if self._session is None:
                    self._session = self._opened()
                return ask(self._session)
        except pkcs11.NoSuchKey:
            raise KeystoreError(ErrorCode.REFUSED, "The token holds no key of that label") from None
        except (pkcs11.PKCS11Error, OSError, RuntimeError) as error:
            self._session = None  # whatever it was, the next call begins anew
            raise KeystoreError(
                ErrorCode.UNREACHABLE, f"The token refused: {type(error).__name__}"
            ) from None

    def _opened(self) -> Any:
        import pkcs11

        pin = os.environ.get("PKCS11_PIN", "")
        if not pin:
            raise KeystoreError(
                ErrorCode.UNAVAILABLE,
                "PKCS11_PIN is missing: set it in the environment of the signer",
            )
        token = pkcs11.lib(self._module).get_token(token_label=self._token)
        try:
            return token.open(user_pin=pin)
        except (
            pkcs11.UserAlreadyLoggedIn
        ):  # a session that was lost has left its login, which is the process's
            return token.open()


def _point(session: Any, label: str) -> bytes:
    """A token tells it as a DER octet string, and some as the bare point."""
    from pkcs11 import Attribute, ObjectClass

    raw = bytes(
        session.get_key(object_class=ObjectClass.PUBLIC_KEY, label=label)[Attribute.EC_POINT]
    )
    return raw.removeprefix(_OCTET_STRING) if len(raw) > POINT_BYTES else raw
