"""The bloom filter of a block's or a receipt's logs: whether an address or a topic may be among
them. What it doesn't contain is in none."""

from collections.abc import Iterable

from apps.core.evm import keccak

_BYTES = 256
_BITS = 2047


def may_contain(bloom: str, words: Iterable[str]) -> bool:
    """Whether all of these, addresses or topics in hex, may be in the filter's logs. One that can't
    be read contains nothing."""
    try:
        bits = int.from_bytes(bytes.fromhex(bloom[2:]))
    except ValueError:
        return False
    return len(bloom) == 2 + 2 * _BYTES and all(_is_set(bits, word) for word in words)


def _is_set(bits: int, word: str) -> bool:
    digest = keccak(bytes.fromhex(word[2:]))
    places = (int.from_bytes(digest[start : start + 2]) & _BITS for start in (0, 2, 4))
    return all(bits >> place & 1 for place in places)
