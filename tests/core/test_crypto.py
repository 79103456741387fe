"""Secrets at rest are standard AES-GCM: another library opens them, and they open in their place
alone."""

import base64
import os

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from apps.core import crypto

PLACE = "webhooks_endpoint:1:secret"


@pytest.mark.parametrize("key_bytes", [16, 32])
@pytest.mark.parametrize(
    "content", [b"", b"a secret", os.urandom(10_000)], ids=["nothing", "short", "long"]
)
def test_what_one_library_seals_the_other_opens(content: bytes, key_bytes: int) -> None:
    key = os.urandom(key_bytes)
    nonce = os.urandom(12)
    place = b"here"
    sealed = crypto.seal(key, nonce, content, place)
    assert sealed == AESGCM(key).encrypt(nonce, content, place)
    assert crypto.unseal(key, nonce, sealed, place) == content


@pytest.mark.parametrize("changed", range(0, 24, 3))
def test_a_changed_byte_opens_nothing(changed: int) -> None:
    key = os.urandom(32)
    nonce = os.urandom(12)
    sealed = bytearray(crypto.seal(key, nonce, b"a secret", b"here"))
    sealed[changed] ^= 1
    with pytest.raises(InvalidTag):
        AESGCM(key).decrypt(nonce, bytes(sealed), b"here")
    with pytest.raises(ValueError):
        crypto.unseal(key, nonce, bytes(sealed), b"here")


@pytest.mark.parametrize("sealed", [b"", b"short", bytes(16)])
def test_what_is_too_short_opens_nothing(sealed: bytes) -> None:
    with pytest.raises(ValueError):
        crypto.unseal(bytes(32), bytes(12), sealed, b"here")


def test_a_text_opens_in_its_place_alone() -> None:
    sealed = crypto.encrypt("väl", PLACE)
    assert crypto.decrypt(sealed, PLACE) == "väl"
    with pytest.raises(ValueError):
        crypto.decrypt(sealed, PLACE + "0")
    key_id, _, body = sealed.partition(":")
    assert len(base64.urlsafe_b64decode(body)) == 12 + len("väl".encode()) + 16
    assert crypto.is_current(sealed) and not crypto.is_current(f"x{key_id}:{body}")
