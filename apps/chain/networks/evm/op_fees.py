"""The fees that networks of the OP stack take beside gas: for the bytes that they write to Ethereum
(as since Fjord), and their operator's. Both are computed from what the network keeps of their
prices, as a receipt need not say them."""

from dataclasses import dataclass
from typing import Any

from apps.chain.providers.base import Call, Nodes, RpcError
from apps.core.errors import ErrorCode

# The contract that has what Ethereum's last block asked, and its places (L1Block).
_PRICES = "0x4200000000000000000000000000000000000015"
_ORACLE = "0x420000000000000000000000000000000000000f"
_BASE_FEE, _SCALARS, _BLOB_BASE_FEE, _OPERATOR = "0x1", "0x3", "0x7", "0x8"
_IS_JOVIAN = "0x105d0b81"
# Of a size in millionths of a byte, by the size that FastLZ would make of the bytes.
_LEAST_SIZE = 100_000_000
_INTERCEPT, _SLOPE = -42_585_600, 836_500
_BASE_FEE_FACTOR = 16
_MILLION = 10**6
_JOVIAN_FACTOR = 100
_WORD = 32


@dataclass(frozen=True)
class OpPrices:
    """At one block; the scalars are the network's own, `is_jovian` of a newer release, whose
    operators are paid by another formula."""

    base_fee_wei: int
    blob_base_fee_wei: int
    base_fee_scalar: int
    blob_base_fee_scalar: int
    operator_scalar: int
    operator_constant: int
    is_jovian: bool

    def share(self, raw: bytes) -> int:
        """For the bytes of a signed transaction, in wei."""
        return self._of_size(max(_LEAST_SIZE, _INTERCEPT + _SLOPE * fast_lz_size(raw)))

    def share_at_most(self, size: int) -> int:
        """Share for so many bytes, none of which repeats another."""
        longest = size + -(-size // _WORD)
        return self._of_size(max(_LEAST_SIZE, _INTERCEPT + _SLOPE * longest))

    def operator(self, gas_used: int) -> int:
        return operator_fee(
            gas_used, self.operator_scalar, self.operator_constant, is_jovian=self.is_jovian
        )

    def _of_size(self, millionths: int) -> int:
        price = (
            self.base_fee_scalar * self.base_fee_wei * _BASE_FEE_FACTOR
            + self.blob_base_fee_scalar * self.blob_base_fee_wei
        )
        return millionths * price // _MILLION**2


def operator_fee(gas_used: int, scalar: int, constant: int, *, is_jovian: bool) -> int:
    """In wei."""
    if is_jovian:
        return gas_used * scalar * _JOVIAN_FACTOR + constant
    return gas_used * scalar // _MILLION + constant


def calls(block: str) -> list[Call]:
    """Calls that read the prices at a block."""
    places = (_BASE_FEE, _SCALARS, _BLOB_BASE_FEE, _OPERATOR)
    questions: list[Call] = [("eth_getStorageAt", [_PRICES, place, block]) for place in places]
    return [*questions, ("eth_call", [{"to": _ORACLE, "data": _IS_JOVIAN}, block])]


def read(answers: list[Any]) -> OpPrices:
    """Raises RpcError for what is no answer to `calls`; an oracle that doesn't know of Jovian is
    older."""
    *words, jovian = answers
    for word in words:
        if isinstance(word, RpcError):
            raise word
    try:
        base_fee, scalars, blob_base_fee, operator = (int(word, 16) for word in words)
        told = None if isinstance(jovian, RpcError) or jovian in ("0x", None) else int(jovian, 16)
    except (TypeError, ValueError):
        raise RpcError("a node's answer isn't a word", ErrorCode.MALFORMED) from None
    half = 2**32
    return OpPrices(
        base_fee_wei=base_fee,
        blob_base_fee_wei=blob_base_fee,
        base_fee_scalar=(scalars >> 96) % half,
        blob_base_fee_scalar=(scalars >> 64) % half,
        operator_scalar=(operator >> 64) % half,
        operator_constant=operator % 2**64,
        is_jovian=told == 1,
    )


def prices_at(nodes: Nodes, block: str) -> OpPrices:
    """Raises RpcError."""
    return read(nodes.each(calls(block)))


# --- FastLZ ---------------------------------------------------------------------------------------

_HASHES = 8192
_FURTHEST = 8192
_LONGEST = 262
_LITERALS = 32
# No match begins in the last bytes, and none goes on in the very last.
_NO_MATCH = 14
_NEVER_IN = 4


def fast_lz_size(data: bytes) -> int:
    """The size of the data compressed by FastLZ (level 1), as the network computes it."""
    end = len(data) - _NO_MATCH
    seen = [0] * _HASHES
    size = anchor = 0
    at = 2
    while at < end:
        at, place = _next_match(data, seen, at, end)
        if place is None:
            break
        size += _literals(at - anchor)
        length = _length(data, place + 3, at + 3, len(data) - _NEVER_IN)
        size += _match(length)
        at += length
        for _ in range(2):
            seen[_hash(_three(data, at))] = at
            at += 1
        anchor = at
    return size + _literals(len(data) - anchor)


def _next_match(data: bytes, seen: list[int], at: int, end: int) -> tuple[int, int | None]:
    """Where the next bytes begin that were there before, and where."""
    while at < end:
        three = _three(data, at)
        key = _hash(three)
        place, seen[key] = seen[key], at
        if at - place < _FURTHEST and three == _three(data, place):
            return at, place
        at += 1
    return at, None


def _length(data: bytes, earlier: int, later: int, end: int) -> int:
    """How many bytes agree, and one more."""
    length = 0
    while later + length < end:
        length += 1
        if data[earlier + length - 1] != data[later + length - 1]:
            break
    return length


def _literals(count: int) -> int:
    rest = count % _LITERALS
    return (_LITERALS + 1) * (count // _LITERALS) + (rest + 1 if rest else 0)


def _match(length: int) -> int:
    rest = (length - 1) % _LONGEST
    return 3 * ((length - 1) // _LONGEST) + (3 if rest >= 6 else 2)


def _three(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 3], "little")


def _hash(three: int) -> int:
    return (2654435769 * three >> 19) & (_HASHES - 1)
