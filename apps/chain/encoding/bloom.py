"""The filter of the logs of a block or of a receipt (yellow paper, 4.3.1): which addresses and
topics they have. It may claim too much, and never denies what is there.

Some chains leave it out, empty or full: it says nothing then.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from apps.chain.encoding.keccak import keccak

SIZE_BITS = 2048
# Up to so many bits (some thirty logs) all logs of a block are read, and no other is missing.
QUIET_BITS = 256
_FULL = (1 << SIZE_BITS) - 1


def read(holder: Mapping[str, Any]) -> int | None:
    """The filter of a block or a receipt as a node tells it; None when it says nothing."""
    text = holder.get("logsBloom")
    if not isinstance(text, str) or len(text) != 2 + SIZE_BITS // 4:
        return None
    try:
        bloom = int(text, 16)
    except ValueError:
        return None
    return bloom if 0 < bloom < _FULL else None


def is_quiet(bloom: int) -> bool:
    return bloom.bit_count() <= QUIET_BITS


def contains(bloom: int, items: Iterable[str]) -> bool:
    """Tell whether all of these, addresses or topics in hex, may be in its logs."""
    return all(not of_item(item) & ~bloom for item in items)


@lru_cache(maxsize=8192)
def of_item(item: str) -> int:
    """The three bits of an address or topic in hex."""
    digest = keccak(bytes.fromhex(item[2:]))
    bloom = 0
    for place in (0, 2, 4):
        bloom |= 1 << (int.from_bytes(digest[place : place + 2]) % SIZE_BITS)
    return bloom


def of_log(log: Mapping[str, Any]) -> int:
    """Raises what reading something that isn't a log raises."""
    bloom = of_item(log["address"].lower())
    for topic in log["topics"]:
        bloom |= of_item(topic.lower())
    return bloom


def of_logs(logs: Iterable[Mapping[str, Any]]) -> int:
    bloom = 0
    for log in logs:
        bloom |= of_log(log)
    return bloom
