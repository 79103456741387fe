"""Recoverable secrets at rest: AES-GCM under a key from the environment, bound to the place where
they are stored.

pycryptodome's, which every process has for Keccak: another library for it would be seven megabytes
in each. The text form is `<key id>:<base64 of nonce and ciphertext>`. The first configured key
encrypts, every configured key decrypts.
"""

import base64
import os
from typing import Any

from Crypto.Cipher import AES
from django.conf import settings

NONCE_BYTES = 12
_TAG_BYTES = 16


def _keys() -> dict[str, bytes]:
    pairs = (entry.partition(":")[::2] for entry in settings.ENCRYPTION_KEYS)
    return {key_id: base64.urlsafe_b64decode(key) for key_id, key in pairs}


def encrypt(text: str, place: str) -> str:
    """`place` is table, row and column; a ciphertext moved elsewhere doesn't decrypt."""
    key_id, key = next(iter(_keys().items()))
    nonce = os.urandom(NONCE_BYTES)
    sealed = nonce + seal(key, nonce, text.encode(), place.encode())
    return f"{key_id}:{base64.urlsafe_b64encode(sealed).decode()}"


def decrypt(sealed: str, place: str) -> str:
    """Raises ValueError for what was changed or is in another place."""
    key_id, _, body = sealed.partition(":")
    raw = base64.urlsafe_b64decode(body)
    return unseal(_keys()[key_id], raw[:NONCE_BYTES], raw[NONCE_BYTES:], place.encode()).decode()


def seal(key: bytes, nonce: bytes, content: bytes, place: bytes) -> bytes:
    """AES-GCM: the ciphertext with its tag behind it. A nonce is never used twice with a key."""
    ciphertext, tag = _cipher(key, nonce, place).encrypt_and_digest(content)
    return bytes(ciphertext + tag)


def unseal(key: bytes, nonce: bytes, sealed: bytes, place: bytes) -> bytes:
    """Opens sealed bytes. Raises ValueError when it is not exactly that."""
    content: bytes = _cipher(key, nonce, place).decrypt_and_verify(
        sealed[:-_TAG_BYTES], sealed[-_TAG_BYTES:]
    )
    return content


def _cipher(key: bytes, nonce: bytes, place: bytes) -> Any:
    return AES.new(key, AES.MODE_GCM, nonce=nonce, mac_len=_TAG_BYTES).update(place)


def is_current(sealed: str) -> bool:
    """True if the first configured key made it (else `rotate_encryption_key` makes it anew)."""
    return sealed.partition(":")[0] == next(iter(_keys()))
