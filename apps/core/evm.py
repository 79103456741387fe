"""Keccak-256 and the text form of EVM addresses (EIP-55).

Straight on pycryptodome: the libraries of this field bring half a second of imports to every
process.
"""

import re
from functools import lru_cache
from typing import NewType

from Crypto.Hash import keccak as _keccak

# Coins may be sent to it: judged where it came in, or read from the chain.
Address = NewType("Address", str)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


def keccak(data: bytes) -> bytes:
    return _keccak.new(data=data, digest_bits=256).digest()


@lru_cache(maxsize=10_000)
def checksummed(address: str) -> str:
    """The display form of an address, by EIP-55."""
    letters = address[2:].lower()
    digest = keccak(letters.encode()).hex()
    return "0x" + "".join(
        letter.upper() if mark > "7" else letter
        for letter, mark in zip(letters, digest, strict=False)
    )


def is_address(text: str) -> bool:
    """Whether this is an address after 0x; one in mixed case has to carry the right checksum."""
    letters = text[2:]
    return bool(_ADDRESS.fullmatch(text)) and (
        letters in (letters.lower(), letters.upper()) or checksummed(text) == text
    )
