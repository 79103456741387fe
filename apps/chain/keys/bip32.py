"""Hierarchical keys (BIP-32) on secp256k1: children of an extended private or public key, and their
text forms.

An index or seed without a key, which one in 2^127 is, raises ValueError and is never skipped
silently.
"""

import hashlib
import hmac
from dataclasses import dataclass

from coincurve import PrivateKey, PublicKey

HARDENED = 2**31
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_XPUB = bytes.fromhex("0488b21e")
_XPRV = bytes.fromhex("0488ade4")
_LENGTH = 78
_CHECK = 4
_DEPTH_MAX = 255


@dataclass(frozen=True)
class Public:
    """An extended public key: it gives addresses and signs nothing."""

    key: PublicKey
    chain_code: bytes
    depth: int = 0
    parent: bytes = bytes(4)
    number: int = 0

    @property
    def compressed(self) -> bytes:
        return self.key.format()

    @classmethod
    def parse(cls, text: str) -> "Public":
        """Raises ValueError for what is no xpub."""
        raw = _unwrapped(text)
        if raw[:4] != _XPUB or (raw[4] == 0 and any(raw[5:13])):
            raise ValueError("not an extended public key")
        return cls(PublicKey(raw[45:]), raw[13:45], raw[4], raw[5:9], int.from_bytes(raw[9:13]))

    def child(self, index: int) -> "Public":
        if not 0 <= index < HARDENED:
            raise ValueError("only a private key has hardened children")
        tweak, chain_code = _halves(self.chain_code, self.compressed + index.to_bytes(4))
        return Public(
            self.key.add(tweak), chain_code, _deeper(self.depth), _fingerprint(self.key), index
        )

    def text(self) -> str:
        return _wrapped(
            _XPUB, self.depth, self.parent, self.number, self.chain_code, self.compressed
        )


@dataclass(frozen=True, repr=False)
class Private:
    """An extended private key. Its plain text form doesn't show it."""

    key: PrivateKey
    chain_code: bytes
    depth: int = 0
    parent: bytes = bytes(4)
    number: int = 0

    @classmethod
    def of_seed(cls, seed: bytes) -> "Private":
        secret, chain_code = _halves(b"Bitcoin seed", seed)
        return cls(PrivateKey(secret), chain_code)

    def child(self, index: int) -> "Private":
        """Hardened from 2^31 on."""
        content = b"\0" + self.key.secret if index >= HARDENED else self.key.public_key.format()
        tweak, chain_code = _halves(self.chain_code, content + index.to_bytes(4))
        return Private(
            self.key.add(tweak),
            chain_code,
            _deeper(self.depth),
            _fingerprint(self.key.public_key),
            index,
        )

    def derive(self, path: str) -> "Private":
        """The descendant at a path like m/44'/60'/0'."""
        key = self
        for step in path.split("/")[1:]:
            key = key.child(int(step.rstrip("'")) + (HARDENED if step.endswith("'") else 0))
        return key

    @property
    def public(self) -> Public:
        return Public(self.key.public_key, self.chain_code, self.depth, self.parent, self.number)

    def text(self) -> str:
        return _wrapped(
            _XPRV, self.depth, self.parent, self.number, self.chain_code, b"\0" + self.key.secret
        )


def _halves(key: bytes, data: bytes) -> tuple[bytes, bytes]:
    whole = hmac.digest(key, data, "sha512")
    return whole[:32], whole[32:]


def _deeper(depth: int) -> int:
    if depth >= _DEPTH_MAX:
        raise ValueError("no key is deeper than 255")
    return depth + 1


def _fingerprint(key: PublicKey) -> bytes:
    return _hash160(key.format())[:4]


def _hash160(data: bytes) -> bytes:
    """RIPEMD-160 is pycryptodome's, as OpenSSL has it on some machines only; addresses don't need
    it."""
    from Crypto.Hash import RIPEMD160

    return RIPEMD160.new(hashlib.sha256(data).digest()).digest()


def _wrapped(
    version: bytes, depth: int, parent: bytes, number: int, chain_code: bytes, key: bytes
) -> str:
    raw = version + bytes([depth]) + parent + number.to_bytes(4) + chain_code + key
    value = int.from_bytes(raw + _check(raw))
    text = ""
    while value:
        value, digit = divmod(value, len(_ALPHABET))
        text = _ALPHABET[digit] + text
    return text


def _unwrapped(text: str) -> bytes:
    value = 0
    for letter in text:
        value = value * len(_ALPHABET) + _ALPHABET.index(letter)
    try:
        raw = value.to_bytes(_LENGTH + _CHECK)
    except OverflowError:
        raise ValueError("too long for an extended key") from None
    if raw[_LENGTH:] != _check(raw[:_LENGTH]):
        raise ValueError("the checksum of an extended key is wrong")
    return raw[:_LENGTH]


def _check(raw: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(raw).digest()).digest()[:_CHECK]
