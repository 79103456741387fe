"""Keccak-256, straight on pycryptodome: the libraries of this field bring half a second of imports
to every process."""

from Crypto.Hash import keccak as _keccak


def keccak(data: bytes) -> bytes:
    return _keccak.new(data=data, digest_bits=256).digest()
