"""The one kind of transaction that is ever signed (EIP-1559, type 2), and how its bytes are written
(RLP)."""

from dataclasses import dataclass

from apps.chain.encoding.keccak import keccak
from apps.chain.keys.secp256k1 import Signs

_TYPE = b"\x02"
_SHORT_MAX = 55
Item = bytes | int | list["Item"]


@dataclass(frozen=True)
class Signed:
    """The bytes for a node and their hash, each as 0x and lower-case hex."""

    tx_hash: str
    raw: str


@dataclass(frozen=True)
class Transaction:
    """`to` is empty for a new contract; `data` is 0x and hex. Fees are wei per gas."""

    chain_id: int
    nonce: int
    to: str
    value_wei: int
    data: str
    gas: int
    max_fee_wei: int
    priority_fee_wei: int

    @property
    def digest(self) -> bytes:
        """Digest for the signature."""
        return keccak(_TYPE + rlp(self._fields()))

    def signed(self, key: Signs) -> Signed:
        raw = _TYPE + rlp([*self._fields(), *key.sign(self.digest)])
        return Signed("0x" + keccak(raw).hex(), "0x" + raw.hex())

    def _fields(self) -> list[Item]:
        fees: list[Item] = [self.priority_fee_wei, self.max_fee_wei, self.gas]
        call: list[Item] = [
            bytes.fromhex(self.to[2:]),
            self.value_wei,
            bytes.fromhex(self.data[2:]),
        ]
        return [self.chain_id, self.nonce, *fees, *call, []]


def rlp(item: Item) -> bytes:
    """Recursive length prefix; a number is its shortest big-endian bytes. Raises OverflowError for
    a negative one."""
    if isinstance(item, list):
        body = b"".join(rlp(part) for part in item)
        return _prefix(len(body), 0xC0) + body
    body = item.to_bytes((item.bit_length() + 7) // 8) if isinstance(item, int) else item
    if len(body) == 1 and body[0] < 0x80:  # such a byte represents itself
        return body
    return _prefix(len(body), 0x80) + body


def _prefix(length: int, offset: int) -> bytes:
    if length <= _SHORT_MAX:
        return bytes([offset + length])
    size = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([offset + _SHORT_MAX + len(size)]) + size
