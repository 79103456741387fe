"""Mnemonics (BIP-39, English): words for random bits and back, and the seed that they give."""

import hashlib
import os
import unicodedata
from functools import cache
from pathlib import Path

ENTROPY_BYTES = 32
_LENGTHS = (12, 15, 18, 21, 24)
_ROUNDS = 2048
_WORD_BITS = 11


@cache
def _list() -> tuple[str, ...]:
    return tuple((Path(__file__).parent / "bip39_english.txt").read_text().split())


def new_words() -> str:
    """Twenty-four new words."""
    return words_of(os.urandom(ENTROPY_BYTES))


def words_of(entropy: bytes) -> str:
    """Entropy of 16 to 32 bytes with its checksum: one bit in 32."""
    check_bits = len(entropy) // 4
    bits = int.from_bytes(entropy) << check_bits | _checksum(entropy)
    count = (len(entropy) * 8 + check_bits) // _WORD_BITS
    return " ".join(
        _list()[bits >> _WORD_BITS * place & 2**_WORD_BITS - 1] for place in reversed(range(count))
    )


def is_mnemonic(words: str) -> bool:
    """True if these are words of the list, so many as a mnemonic has, with the right checksum."""
    numbers = {word: number for number, word in enumerate(_list())}
    parts = unicodedata.normalize("NFKD", words).split()
    if len(parts) not in _LENGTHS or not all(word in numbers for word in parts):
        return False
    bits = 0
    for word in parts:
        bits = bits << _WORD_BITS | numbers[word]
    check_bits = len(parts) // 3
    entropy = (bits >> check_bits).to_bytes(check_bits * 4)
    return bool(bits & 2**check_bits - 1 == _checksum(entropy))


def looks_like_mnemonic(text: str) -> bool:
    """Tells whether a text has as many words of the list as a mnemonic has, whatever their
    checksum."""
    parts = unicodedata.normalize("NFKD", text).lower().split()
    return len(parts) in _LENGTHS and set(parts) <= set(_list())


def _checksum(entropy: bytes) -> int:
    check_bits = len(entropy) // 4
    return hashlib.sha256(entropy).digest()[0] >> 8 - check_bits


def seed_of(words: str, passphrase: str = "") -> bytes:
    """The 64 bytes that BIP-32 begins with."""
    password, salt = (
        unicodedata.normalize("NFKD", text).encode() for text in (words, "mnemonic" + passphrase)
    )
    return hashlib.pbkdf2_hmac("sha512", password, salt, _ROUNDS)
