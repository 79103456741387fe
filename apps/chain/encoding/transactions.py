"""The transactions that are signed, and how their bytes are written (RLP): EIP-1559's (type 2),
those that carry delegations (EIP-7702, type 4), and Tempo's (type 0x76) where a token pays the
fee."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.chain.encoding.keccak import keccak
from apps.chain.keys.secp256k1 import V_OF_PARITY, Signs

_TYPE = b"\x02"
_DELEGATING = b"\x04"
_IN_TOKEN = b"\x76"
_DELEGATES = b"\x05"
_NOTHING = b""
_SHORT_MAX = 55
_FIRST_OF_PREFIXES = b"\x80"
_SHORT = [bytes((0x80 + length,)) for length in range(_SHORT_MAX + 1)]
Item = bytes | int | list["Item"]


@dataclass(frozen=True)
class Signed:
    """The bytes for a node and their hash, each as 0x and lower-case hex."""

    tx_hash: str
    raw: str


@dataclass(frozen=True)
class Delegation:
    """An account's signed wish to run a contract's code as its own from its nonce on (EIP-7702)."""

    chain_id: int
    contract: str
    nonce: int
    parity: int
    r: int
    s: int

    @classmethod
    def signed(cls, chain_id: int, contract: str, nonce: int, key: Signs) -> "Delegation":
        """Raises ValueError for the number that means every network."""
        if chain_id <= 0:
            raise ValueError("a delegation is for one network")
        digest = keccak(_DELEGATES + rlp([chain_id, bytes.fromhex(contract[2:]), nonce]))
        return cls(chain_id, contract, nonce, *key.sign(digest))

    def fields(self) -> Item:
        contract = bytes.fromhex(self.contract[2:])
        return [self.chain_id, contract, self.nonce, self.parity, self.r, self.s]

    def as_json(self) -> dict[str, str]:
        """As nodes take it in questions."""
        return {
            "chainId": hex(self.chain_id),
            "address": self.contract,
            "nonce": hex(self.nonce),
            "yParity": hex(self.parity),
            "r": hex(self.r),
            "s": hex(self.s),
        }


@dataclass(frozen=True)
class Transaction:
    """`to` is empty for a new contract; `data` is 0x and hex. Fees are wei per gas, taken
    in `fee_token` where there is one."""

    chain_id: int
    nonce: int
    to: str
    value_wei: int
    data: str
    gas: int
    max_fee_wei: int
    priority_fee_wei: int
    fee_token: str = ""
    delegations: Sequence[Delegation] = ()

    @property
    def digest(self) -> bytes:
        """Digest for the signature."""
        if self.fee_token:
            return keccak(_IN_TOKEN + rlp(self._fields_in_token()))
        return keccak(self._type + rlp(self._fields()))

    def signed(self, key: Signs) -> Signed:
        parity, r, s = key.sign(self.digest)
        if self.fee_token:
            signature = r.to_bytes(32) + s.to_bytes(32) + bytes([V_OF_PARITY + parity])
            raw = _IN_TOKEN + rlp([*self._fields_in_token(), signature])
        else:
            raw = self._type + rlp([*self._fields(), parity, r, s])
        return Signed("0x" + keccak(raw).hex(), "0x" + raw.hex())

    @property
    def _type(self) -> bytes:
        return _DELEGATING if self.delegations else _TYPE

    def _fields_in_token(self) -> list[Item]:
        """One call, in the usual line of nonces, at any time, paid by its sender."""
        fees: list[Item] = [self.priority_fee_wei, self.max_fee_wei, self.gas]
        call: Item = [bytes.fromhex(self.to[2:]), self.value_wei, bytes.fromhex(self.data[2:])]
        times: list[Item] = [_NOTHING, _NOTHING]
        payer: list[Item] = [bytes.fromhex(self.fee_token[2:]), _NOTHING]
        return [self.chain_id, *fees, [call], [], 0, self.nonce, *times, *payer, []]

    def _fields(self) -> list[Item]:
        fees: list[Item] = [self.priority_fee_wei, self.max_fee_wei, self.gas]
        call: list[Item] = [
            bytes.fromhex(self.to[2:]),
            self.value_wei,
            bytes.fromhex(self.data[2:]),
        ]
        given: list[Item] = [[item.fields() for item in self.delegations]]
        return [self.chain_id, self.nonce, *fees, *call, [], *(given if self.delegations else [])]


def rlp(item: Item) -> bytes:
    """Recursive length prefix; a number is its shortest big-endian bytes. Raises OverflowError for
    a negative one."""
    if isinstance(item, list):
        body = b"".join([rlp(part) for part in item])
        return _prefix(len(body), 0xC0) + body
    body = item.to_bytes((item.bit_length() + 7) // 8) if isinstance(item, int) else item
    length = len(body)
    if length == 1 and body < _FIRST_OF_PREFIXES:  # such a byte represents itself
        return body
    if length <= _SHORT_MAX:
        return _SHORT[length] + body
    return _prefix(length, 0x80) + body


def _prefix(length: int, offset: int) -> bytes:
    if length <= _SHORT_MAX:
        return bytes((offset + length,))
    size = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes((offset + _SHORT_MAX + len(size),)) + size
