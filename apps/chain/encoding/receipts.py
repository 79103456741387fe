"""Receipts as a header commits to them: the bytes of each by its kind of transaction, and the root
of a block's (EIP-2718; EIP-658, and the state's root before it).

Networks have kinds of their own. Those of the OP stack, Arbitrum, Polygon and Tempo are known; an
unknown kind is written as all known ones are, and a root that isn't met so says nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.chain.encoding import bloom
from apps.chain.encoding.keccak import keccak
from apps.chain.encoding.transactions import Item, rlp
from apps.chain.encoding.trie import root_of

_LEGACY = 0
_DEPOSIT = 0x7E  # of the OP stack, whose receipt has two fields more since Canyon
_STATE_SYNC = 0x7F  # of Polygon, since its receipts are in the root
_ARBITRUM = (*range(0x64, 0x6B), 0x78)
_TEMPO = 0x76
_KNOWN = frozenset({_LEGACY, 1, 2, 3, 4, _DEPOSIT, _STATE_SYNC, *_ARBITRUM, _TEMPO})
_BLOOM_BYTES = bloom.SIZE_BITS // 8
_ROOT_BYTES = 32
_TYPE_MAX = 0x7F

Receipt = Mapping[str, Any]


def receipts_root(receipts: Sequence[Receipt]) -> str:
    """In the order of the block. Raises what reading something that isn't a receipt raises."""
    return "0x" + root_of([_written(receipt) for receipt in receipts]).hex()


def is_certain(receipts: Sequence[Receipt]) -> bool:
    """Tell whether all of these are of known kinds, with all that belongs into their bytes: another
    root than theirs is a contradiction."""
    return all(
        _kind(receipt) in _KNOWN
        and (_kind(receipt) != _DEPOSIT or receipt.get("depositReceiptVersion") is not None)
        for receipt in receipts
    )


def outside_root(number: int, block_hash: str) -> str:
    """The hash of the transaction of Polygon's bridge in a block, which neither of its roots has
    (since its type is 0x7f they do)."""
    name = b"matic-bor-receipt-" + number.to_bytes(8) + bytes.fromhex(block_hash[2:])
    return "0x" + keccak(name).hex()


def _written(receipt: Receipt) -> bytes:
    kind = _kind(receipt)
    fields: list[Item] = [
        _end(receipt),
        _number(receipt["cumulativeGasUsed"]),
        bloom.of_logs(receipt["logs"]).to_bytes(_BLOOM_BYTES),
        [_log(entry) for entry in receipt["logs"]],
    ]
    version = receipt.get("depositReceiptVersion")
    if kind == _DEPOSIT and version is not None:
        fields += [_number(receipt["depositNonce"]), _number(version)]
    return rlp(fields) if kind == _LEGACY else bytes([kind]) + rlp(fields)


def _end(receipt: Receipt) -> bytes | int:
    """Its status, 1 for success; before Byzantium the root of the state after it."""
    status = receipt.get("status")
    if status is not None:
        return _number(status)
    root = bytes.fromhex(receipt["root"][2:])
    if len(root) != _ROOT_BYTES:
        raise ValueError("neither a status nor a root")
    return root


def _log(entry: Mapping[str, Any]) -> list[Item]:
    topics: list[Item] = [bytes.fromhex(topic[2:]) for topic in entry["topics"]]
    return [bytes.fromhex(entry["address"][2:]), topics, bytes.fromhex(entry["data"][2:])]


def _kind(receipt: Receipt) -> int:
    text = receipt.get("type")
    kind = _LEGACY if text is None else _number(text)
    if kind > _TYPE_MAX:
        raise ValueError("no type of a transaction")
    return kind


def _number(text: Any) -> int:
    if not isinstance(text, str) or not text.startswith("0x"):
        raise ValueError("not a hex quantity")
    return int(text, 16)
