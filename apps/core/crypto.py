"""Recoverable secrets at rest: AES-GCM under a key from the environment, bound to the place where they are stored.

The text form is `<key id>:<base64 of nonce and ciphertext>`. The first configured key encrypts, every configured key decrypts.
"""

import base64
import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

_NONCE_BYTES = 12


def _keys() -> dict[str, AESGCM]:
    pairs = (entry.partition(":")[::2] for entry in settings.ENCRYPTION_KEYS)
    return {key_id: AESGCM(base64.urlsafe_b64decode(key)) for key_id, key in pairs}


def encrypt(text: str, place: str) -> str:
    """`place` is table, row and column; a ciphertext moved elsewhere doesn't decrypt."""
    key_id, key = next(iter(_keys().items()))
    nonce = os.urandom(_NONCE_BYTES)
    sealed = nonce + key.encrypt(nonce, text.encode(), place.encode())
    return f"{key_id}:{base64.urlsafe_b64encode(sealed).decode()}"


def decrypt(sealed: str, place: str) -> str:
    key_id, _, body = sealed.partition(":")
    raw = base64.urlsafe_b64decode(body)
    return _keys()[key_id].decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], place.encode()).decode()


def is_current(sealed: str) -> bool:
    """Whether the first configured key made it (else `rotate_encryption_key` makes it anew)."""
    return sealed.partition(":")[0] == next(iter(_keys()))
