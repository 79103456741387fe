"""Spelling of addresses by EIP-55. It needs no Django: programs beside the service use it too."""

import re
from functools import lru_cache

from apps.chain.encoding.keccak import keccak

PREFIX = "0x"
FORM = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)


@lru_cache(maxsize=10_000)
def checksummed(address: str) -> str:
    """The display form of an address, by EIP-55."""
    letters = address[2:].lower()
    digest = keccak(letters.encode()).hex()
    marked = zip(letters, letters.upper(), digest, strict=False)
    return PREFIX + "".join([upper if mark > "7" else lower for lower, upper, mark in marked])


def is_address(text: str) -> bool:
    """Tells whether this is an address after 0x; one in mixed case has to carry the right
    checksum."""
    letters = text[2:]
    return bool(FORM.fullmatch(text)) and (
        letters in (letters.lower(), letters.upper()) or checksummed(text) == text
    )
