"""Signatures of the EVM's curve, by libsecp256k1: what signs a digest, and who signed one."""

from typing import Protocol

from coincurve import PrivateKey, PublicKey

from apps.chain.encoding.keccak import keccak

# The last byte that the EVM knows for a signature, less the recovery id.
V_OF_PARITY = 27
DIGEST_BYTES = 32
POINT_BYTES = 65
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


class Signs(Protocol):
    """A signer for an address, in lower case."""

    @property
    def address(self) -> str: ...

    def sign(self, digest: bytes) -> tuple[int, int, int]:
        """(parity, r, s) with the lower of the two possible s."""


class SigningKey:
    """A private key. It has no attribute or text form that shows it."""

    def __init__(self, secret: bytes) -> None:
        """Raises ValueError for what is no key of the curve."""
        self._key = PrivateKey(secret)
        self.address = address_of(self._key.public_key)

    def sign(self, digest: bytes) -> tuple[int, int, int]:
        """(parity, r, s), deterministic (RFC 6979) and with the lower of the two possible s."""
        raw = self._key.sign_recoverable(digest, hasher=None)
        return raw[64], int.from_bytes(raw[:32]), int.from_bytes(raw[32:64])

    @property
    def public_key(self) -> bytes:
        """The point in 65 bytes."""
        return self._key.public_key.format(compressed=False)

    def signature(self, digest: bytes) -> bytes:
        """The 65 bytes r, s, v that contracts take."""
        parity, r, s = self.sign(digest)
        return r.to_bytes(32) + s.to_bytes(32) + bytes([V_OF_PARITY + parity])


def address_of(key: PublicKey) -> str:
    """In lower case."""
    return "0x" + keccak(key.format(compressed=False)[1:])[-20:].hex()


def recovered(digest: bytes, v: int, r: bytes, s: bytes) -> str:
    """The address, in lower case, whose key made a signature. Raises ValueError for what is
    none."""
    parity = v - V_OF_PARITY
    if parity not in (0, 1):
        raise ValueError("v is neither 27 nor 28")
    try:
        return address_of(
            PublicKey.from_signature_and_message(r + s + bytes([parity]), digest, hasher=None)
        )
    except Exception as error:  # coincurve raises the bare class
        raise ValueError("no key makes this signature") from error


def canonical(address: str, digest: bytes, r: int, s: int) -> tuple[int, int, int]:
    """(parity, r, s) as the EVM takes it, of a signature that another made with the key of an
    address.

    Raises ValueError when that key didn't make it.
    """
    if not (0 < r < ORDER and 0 < s < ORDER):
        raise ValueError("no signature of the curve")
    s = min(s, ORDER - s)
    for parity in (0, 1):
        try:
            if recovered(digest, V_OF_PARITY + parity, r.to_bytes(32), s.to_bytes(32)) == address:
                return parity, r, s
        except ValueError:
            continue
    raise ValueError("another key or another digest made this signature")
