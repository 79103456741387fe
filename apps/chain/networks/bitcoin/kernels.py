"""Litecoin's private part (MWEB) as far as payments out of it go: a kernel names whom it pays.

A payment out of that part waits under the id of its kernel, its bytes reversed, and no block has a
transaction of that id: its block's last transaction pays instead, with an output for each payment.
"""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from apps.chain.networks.base import Inconsistent, TransactionRead, Transfer
from apps.chain.networks.bitcoin.transactions import Bytes, Output, hash_bytes
from apps.chain.providers.base import Call

if TYPE_CHECKING:
    from apps.chain.networks.bitcoin.reader import BitcoinReader

# Further back an id is known from when it waited, or not at all.
BLOCKS_BACK = 100
_POINT, _SIGNATURE, _PROOF = 33, 64, 675
_COUNT_MAX = 100_000


@dataclass(frozen=True)
class Kernel:
    excess: str
    paid: tuple[Output, ...]


def kernel_transfers(
    reader: "BitcoinReader", waiting_id: str, required_confirmations: int
) -> TransactionRead | None:
    """Transfers of a payment that has waited under this id; None where no recent block has its
    kernel."""
    kernel_id = hash_bytes(waiting_id).hex()
    tip = reader.latest(0).number
    for last in range(tip, max(0, tip - BLOCKS_BACK), -10):
        numbers = range(max(1, last - 9), last + 1)
        for block in reversed(reader.blocks(numbers, ())):
            hog = block.told.transactions[-1]
            if not hog.is_private or len(hog.outputs) < 2:
                continue
            calls: list[Call] = [("getblock", [block.header.hash, 2])]
            excess = _excess_of(reader.nodes.batch(calls)[0], kernel_id)
            if excess:
                depth = tip - block.header.number + 1
                if depth < required_confirmations:
                    return TransactionRead(depth)
                paid = _paid(block.told.rest, excess)
                transfers = _found(block.transfers, hog.tx_hash, reader.addresses_of(paid))
                return TransactionRead(depth, True, frozenset(), transfers)
    return None


def read_kernels(rest: bytes) -> list[Kernel]:
    """Of what is behind a block's transactions. Raises ValueError for what is no private
    part."""
    reader = Bytes(rest)
    if reader.integer(1) != 1:
        return []
    _varint(reader)
    reader.take(5 * 32)
    _varint(reader)
    _varint(reader)
    for _ in range(_count(reader)):
        _skip_input(reader)
    for _ in range(_count(reader)):
        _skip_output(reader)
    kernels = [_kernel(reader) for _ in range(_count(reader))]
    if not reader.is_at_end:
        raise ValueError("bytes are left behind the private part")
    return kernels


def _excess_of(told: Any, kernel_id: str) -> str:
    try:
        kernels = told["mweb"]["kernels"]
        found = (str(each["excess"]) for each in kernels if each["kernel_id"] == kernel_id)
        return next(found, "")
    except (KeyError, TypeError):
        raise Inconsistent("a block without its kernels") from None


def _paid(rest: bytes, excess: str) -> tuple[Output, ...]:
    try:
        return next(each.paid for each in read_kernels(rest) if each.excess == excess)
    except (ValueError, StopIteration):
        raise Inconsistent("a block's private part isn't what its node says") from None


def _found(
    transfers: list[Transfer], tx_hash: str, paid: "Counter[tuple[str, int]]"
) -> list[Transfer]:
    """Those outputs of the last transaction that are a kernel's; of two that pay the same the first
    is as good."""
    left = Counter(paid)
    found = []
    for transfer in transfers:
        key = (transfer.to_address, transfer.amount_atomic)
        if transfer.tx_hash == tx_hash and left[key]:
            left[key] -= 1
            found.append(transfer)
    return found


def _skip_input(reader: Bytes) -> None:
    features = reader.integer(1)
    reader.take(32 + _POINT + _POINT)
    if features & 1:
        reader.take(_POINT)
    if features & 2:
        reader.text()
    reader.take(_SIGNATURE)


def _skip_output(reader: Bytes) -> None:
    reader.take(3 * _POINT)
    features = reader.integer(1)
    if features & 1:  # a key, a tag, an amount and a nonce, hidden from all but the recipient
        reader.take(_POINT + 1 + 8 + 16)
    if features & 2:
        reader.text()
    reader.take(_PROOF + _SIGNATURE)


def _kernel(reader: Bytes) -> Kernel:
    features = reader.integer(1)
    if features & 1:  # its fee
        _varint(reader)
    if features & 2:  # what it brings in
        _varint(reader)
    paid: tuple[Output, ...] = ()
    if features & 4:
        paid = tuple(Output(_varint(reader), reader.text()) for _ in range(_count(reader)))
    if features & 8:  # from which block on it counts
        _varint(reader)
    if features & 16:
        reader.take(_POINT)
    if features & 32:
        reader.text()
    excess = reader.take(_POINT)
    reader.take(_SIGNATURE)
    return Kernel(excess.hex(), paid)


def _count(reader: Bytes) -> int:
    count = reader.size()
    if count > _COUNT_MAX:
        raise ValueError("more than any block has")
    return count


def _varint(reader: Bytes) -> int:
    """A number in groups of seven bits, each but the last one less than it says."""
    value = 0
    while True:
        byte = reader.integer(1)
        value = value << 7 | byte & 0x7F
        if value > 2**64:
            raise ValueError("a number is too large")
        if not byte & 0x80:
            return value
        value += 1
