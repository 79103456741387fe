"""Signatures of a store's server over something that a web page hands on: HMAC-SHA256 in hex, keyed
with the SHA-256 of one of its secret keys.

Only that hash of a key is kept, so it is what both sides know.
"""

import hmac
import uuid

from apps.access.models import ApiKey, KeyType


def is_signed(
    store_id: uuid.UUID, mode: str, message: bytes, signature: str, *, scope: str
) -> bool:
    """A working secret key of the store and mode, with the scope, made the signature."""
    try:
        expected = bytes.fromhex(signature)
    except ValueError:
        return False
    keys = ApiKey.objects.filter(
        store_id=store_id,
        mode=mode,
        key_type=KeyType.SECRET,
        revoked_at=None,
        scopes__contains=[scope],
    )
    return any(
        hmac.compare_digest(hmac.digest(bytes(key), message, "sha256"), expected)
        for key in keys.values_list("secret_hash", flat=True)
    )
