"""Arguments of contracts' calls (Solidity's ABI), for the types that occur here: words, texts,
bytes, and lists of words.

Reading is strict: what no contract would have written so is refused.
"""

from collections.abc import Sequence
from typing import Any

WORD = 32
_ADDRESS_BYTES = 20
_BITS = {"uint256": 256, "uint8": 8}


class Malformed(ValueError):
    """These bytes aren't what the types say."""


def encode(types: Sequence[str], values: Sequence[Any]) -> bytes:
    """Raises ValueError or OverflowError for a value that its type can't hold."""
    heads: list[bytes] = []
    tails: list[bytes] = []
    offset = WORD * len(types)
    for kind, value in zip(types, values, strict=True):
        if not _is_dynamic(kind):
            heads.append(_word(kind, value))
            continue
        heads.append(offset.to_bytes(WORD))
        tails.append(_tail(kind, value))
        offset += len(tails[-1])
    return b"".join((*heads, *tails))


def decode(types: Sequence[str], data: bytes) -> tuple[Any, ...]:
    """The values; addresses in lower case. Raises Malformed, also for what isn't the one way to
    write them."""
    values = tuple(_read(kind, data, WORD * place) for place, kind in enumerate(types))
    if encode(types, values) != data:
        raise Malformed("written in another way")
    return values


def _is_dynamic(kind: str) -> bool:
    return kind in ("string", "bytes") or kind.endswith("[]")


def _tail(kind: str, value: Any) -> bytes:
    if kind in ("string", "bytes"):
        raw: bytes = value.encode() if kind == "string" else value
        return len(raw).to_bytes(WORD) + raw + bytes(-len(raw) % WORD)
    return len(value).to_bytes(WORD) + b"".join(_word(kind[:-2], item) for item in value)


def _word(kind: str, value: Any) -> bytes:
    if kind == "address":
        raw = bytes.fromhex(value[2:])
        if len(raw) != _ADDRESS_BYTES or not value.startswith("0x"):
            raise ValueError("not an address")
        return raw.rjust(WORD, b"\0")
    if kind == "bytes32":
        if len(value) != WORD:
            raise ValueError("not 32 bytes")
        return bytes(value)
    number: bytes = value.to_bytes(_BITS[kind] // 8)
    return number.rjust(WORD, b"\0")


def _read(kind: str, data: bytes, at: int) -> Any:
    if not _is_dynamic(kind):
        return _value(kind, _slice(data, at, WORD))
    start = int.from_bytes(_slice(data, at, WORD))
    length = int.from_bytes(_slice(data, start, WORD))
    if kind in ("string", "bytes"):
        raw = _slice(data, start + WORD, length)
        return raw.decode() if kind == "string" else raw
    return tuple(
        _value(kind[:-2], _slice(data, start + WORD * (1 + place), WORD))
        for place in range(_fitting(data, length))
    )


def _fitting(data: bytes, count: int) -> int:
    if count * WORD > len(data):
        raise Malformed("longer than what there is")
    return count


def _slice(data: bytes, at: int, length: int) -> bytes:
    if at + length > len(data):
        raise Malformed("too short")
    return data[at : at + length]


def _value(kind: str, word: bytes) -> Any:
    if kind == "bytes32":
        return word
    size = _ADDRESS_BYTES if kind == "address" else _BITS[kind] // 8
    if any(word[: WORD - size]):
        raise Malformed(f"no {kind}")
    return "0x" + word[-size:].hex() if kind == "address" else int.from_bytes(word)
