"""The form of a credential: a prefix, 34 random base62 characters and a CRC-32 checksum of all
before it in base62. Where there is a shard it leads the random ones.

A mistyped credential is refused without a look-up.
"""

import hashlib
import hmac
import secrets
import string
import zlib
from datetime import datetime

from apps.core.ids import led_by_shard

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM_LENGTH = 34
CHECKSUM_LENGTH = 6
FINGERPRINT_LENGTH = 16

SECRET_PREFIXES = {"live": "svc_sk_live_", "test": "svc_sk_test_"}
PUBLISHABLE_PREFIXES = {"live": "svc_pk_live_", "test": "svc_pk_test_"}
AGENT_PREFIXES = {"live": "svca_live_", "test": "svca_test_"}
OAUTH_ACCESS_PREFIX = "svco_"
OAUTH_REFRESH_PREFIX = "svcr_"
CLIENT_SECRET_PREFIX = "svccs_"
KEY_PREFIXES = (*SECRET_PREFIXES.values(), *PUBLISHABLE_PREFIXES.values())


def mint(prefix: str) -> str:
    """A new credential; the caller shows it once and keeps its hash."""
    return _whole(prefix, "".join(secrets.choice(BASE62) for _ in range(RANDOM_LENGTH)))


def derive(prefix: str, seed: bytes, predecessor: str) -> str:
    """The credential that follows another: the same whenever it is asked for, and nobody's to know
    who lacks the seed (32 random bytes) or the predecessor."""
    number = int.from_bytes(hmac.digest(seed, f"{prefix}{predecessor}".encode(), "sha512"))
    letters = []
    for _ in range(RANDOM_LENGTH):
        number, digit = divmod(number, 62)
        letters.append(BASE62[digit])
    return _whole(prefix, "".join(letters))


def _whole(prefix: str, random: str) -> str:
    body = prefix + led_by_shard(random)
    return body + checksum(body)


def checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits.rjust(CHECKSUM_LENGTH, "0")


def is_well_formed(credential: str, prefix: str) -> bool:
    """True if it has the prefix's length and its checksum is right."""
    body = credential[:-CHECKSUM_LENGTH]
    if len(credential) != len(prefix) + RANDOM_LENGTH + CHECKSUM_LENGTH or not credential.isascii():
        return False
    return checksum(body) == credential[-CHECKSUM_LENGTH:]


def digest(credential: str) -> bytes:
    """Stored and searchable hash of a credential."""
    return hashlib.sha256(credential.encode()).digest()


def noted(
    secret_hash: bytes | memoryview, user_id: object, sends_anywhere_from: datetime | None
) -> dict[str, object]:
    """Record of a credential in the audit log, for comparison with its row: its owner, the time
    from which it sends anywhere, and a part of the hash of its secret's hash."""
    return {
        "fingerprint": hashlib.sha256(secret_hash).hexdigest()[:FINGERPRINT_LENGTH],
        "user": user_id,
        "sends_anywhere_from": sends_anywhere_from,
    }
