"""Transactions as bytes: read strictly, with the hash that they have, and nothing else believed.

Litecoin's flag 8 marks what belongs to its private part (MWEB): in a block only the last
transaction has it, which brings coins out of that part; one that waits has its private part behind
it, of which the bytes say nothing here.
"""

import hashlib
from dataclasses import dataclass

SEQUENCE_FINAL = 0xFFFFFFFE  # from here on nothing else may take its place (BIP-125)
COINBASE_PLACE = (bytes(32), 0xFFFFFFFF)
_WITNESS = 1
_PRIVATE = 8
_SCRIPT_MAX = 4_000_000


class Bytes:
    """Reads a text of bytes from its beginning. Each verb raises ValueError at its end."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.place = 0

    def take(self, count: int) -> bytes:
        end = self.place + count
        if count < 0 or end > len(self.raw):
            raise ValueError("bytes are cut short")
        part = self.raw[self.place : end]
        self.place = end
        return part

    def integer(self, count: int) -> int:
        return int.from_bytes(self.take(count), "little")

    def size(self) -> int:
        """A number in one, three, five or nine bytes, in the shortest form."""
        first = self.integer(1)
        if first < 0xFD:
            return first
        count = {0xFD: 2, 0xFE: 4, 0xFF: 8}[first]
        value = self.integer(count)
        if value < {2: 0xFD, 4: 2**16, 8: 2**32}[count]:
            raise ValueError("a number isn't in its shortest form")
        return value

    def text(self) -> bytes:
        count = self.size()
        if count > _SCRIPT_MAX:
            raise ValueError("a script is longer than any")
        return self.take(count)

    @property
    def is_at_end(self) -> bool:
        return self.place == len(self.raw)


@dataclass(frozen=True, slots=True)
class Input:
    """`tx_hash` in the order in which people write it."""

    tx_hash: str
    output: int
    sequence: int
    script: bytes = b""


@dataclass(frozen=True, slots=True)
class Output:
    amount_atomic: int
    script: bytes


@dataclass(frozen=True, slots=True)
class RawTransaction:
    """`witnesses` of each input, none where the transaction has none; `size` in virtual bytes.
    `is_private` says that it belongs to the private part, of which `has_body` is whether it is
    there."""

    tx_hash: str
    version: int
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    locktime: int
    size: int
    witnesses: tuple[tuple[bytes, ...], ...] = ()
    is_private: bool = False
    has_body: bool = False

    @property
    def is_coinbase(self) -> bool:
        first = self.inputs[0] if len(self.inputs) == 1 else None
        return first is not None and (bytes.fromhex(first.tx_hash), first.output) == COINBASE_PLACE

    @property
    def is_replaceable(self) -> bool:
        return any(each.sequence < SEQUENCE_FINAL for each in self.inputs)


def double_hash(raw: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(raw).digest()).digest()


def shown_hash(digest: bytes) -> str:
    """Hashes are written in the reverse order of their bytes."""
    return digest[::-1].hex()


def hash_bytes(text: str) -> bytes:
    """Of a hash as it is written. Raises ValueError for what is none."""
    raw = bytes.fromhex(text)
    if len(raw) != 32:
        raise ValueError("not a hash")
    return raw[::-1]


def read_transaction(raw: bytes) -> RawTransaction:
    """Raises ValueError unless the bytes are one transaction and no more. Of one that waits with a
    private part the end isn't looked at."""
    reader = Bytes(raw)
    read = read_next(reader)
    if not (reader.is_at_end or read.has_body):
        raise ValueError("bytes are left behind a transaction")
    return read


def read_next(reader: Bytes) -> RawTransaction:
    """The transaction at the reader's place. Raises ValueError."""
    start = reader.place
    version = reader.take(4)
    flags, middle_start = _flags(reader)
    inputs = tuple(_input(reader) for _ in range(reader.size()))
    outputs = tuple(_output(reader) for _ in range(reader.size()))
    middle = reader.raw[middle_start : reader.place]
    witnesses: tuple[tuple[bytes, ...], ...] = ()
    if flags & _WITNESS:
        witnesses = tuple(_witness(reader) for _ in inputs)
        if not any(witnesses):
            raise ValueError("a witness without any")
    has_body = False
    if flags & _PRIVATE and reader.integer(1):
        # What follows is a form of its own; the time is at the end.
        has_body = True
        reader.place = len(reader.raw) - 4
    locktime = reader.take(4)
    if not inputs and not (flags & _PRIVATE):
        raise ValueError("a transaction without inputs")
    plain = version + middle + locktime
    return RawTransaction(
        shown_hash(double_hash(plain)),
        int.from_bytes(version, "little"),
        inputs,
        outputs,
        int.from_bytes(locktime, "little"),
        virtual_size(len(plain), reader.place - start),
        witnesses,
        bool(flags & _PRIVATE),
        has_body,
    )


def virtual_size(plain: int, whole: int) -> int:
    """Of so many bytes without and with witness: a witness counts a quarter."""
    return -(-(3 * plain + whole) // 4)


def _flags(reader: Bytes) -> tuple[int, int]:
    """The flags, and where the inputs begin."""
    start = reader.place
    if reader.integer(1):
        reader.place = start
        return 0, start
    flags = reader.integer(1)
    if not flags or flags & ~(_WITNESS | _PRIVATE):
        raise ValueError("a flag that isn't known")
    return flags, reader.place


def _input(reader: Bytes) -> Input:
    digest = reader.take(32)
    output = reader.integer(4)
    script = reader.text()
    return Input(shown_hash(digest), output, reader.integer(4), script)


def _output(reader: Bytes) -> Output:
    return Output(reader.integer(8), reader.text())


def _witness(reader: Bytes) -> tuple[bytes, ...]:
    return tuple(reader.text() for _ in range(reader.size()))
