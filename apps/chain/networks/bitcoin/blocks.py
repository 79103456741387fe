"""Blocks as bytes. What is read from one is what its hash represents: the header is hashed here,
and the root in it is computed from the hashes of the transactions (decision 758)."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.chain.networks.bitcoin.transactions import (
    Bytes,
    RawTransaction,
    double_hash,
    hash_bytes,
    read_next,
    shown_hash,
)

_HEADER_BYTES = 80
_TRANSACTIONS_MAX = 200_000


@dataclass(frozen=True)
class RawHeader:
    hash: str
    parent_hash: str
    root: bytes
    mined_at_seconds: int


@dataclass(frozen=True)
class RawBlock:
    """`rest` is what is behind the transactions: Litecoin's private part."""

    header: RawHeader
    transactions: tuple[RawTransaction, ...]
    rest: bytes


def read_header(raw: bytes) -> RawHeader:
    """Raises ValueError for what is no header."""
    if len(raw) != _HEADER_BYTES:
        raise ValueError("a header has 80 bytes")
    return RawHeader(
        shown_hash(double_hash(raw)),
        shown_hash(raw[4:36]),
        raw[36:68],
        int.from_bytes(raw[68:72], "little"),
    )


def read_block(raw: bytes) -> RawBlock:
    """Raises ValueError for what is no block, or whose transactions aren't those of its header."""
    reader = Bytes(raw)
    header = read_header(reader.take(_HEADER_BYTES))
    count = reader.size()
    if not 0 < count <= _TRANSACTIONS_MAX:
        raise ValueError("no block has so many transactions")
    transactions = tuple(read_next(reader) for _ in range(count))
    if any(each.has_body for each in transactions) or not transactions[0].is_coinbase:
        raise ValueError("no block has such transactions")
    if root_of([hash_bytes(each.tx_hash) for each in transactions]) != header.root:
        raise ValueError("the root in the header is of other transactions")
    return RawBlock(header, transactions, raw[reader.place :])


def root_of(hashes: Sequence[bytes]) -> bytes:
    """The root of transactions' hashes. Raises ValueError for a list that ends with its own
    repetition, which has the root of the shorter one."""
    row = list(hashes)
    while len(row) > 1:
        # Only such a pair could represent two blocks.
        pairs = zip(row[::2], row[1::2], strict=False)
        if any(left == right for left, right in pairs):
            raise ValueError("a block has a transaction twice")
        if len(row) % 2:
            row.append(row[-1])
        row = [double_hash(row[place] + row[place + 1]) for place in range(0, len(row), 2)]
    return row[0]
