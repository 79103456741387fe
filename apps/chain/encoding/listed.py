"""Transactions of a block as nodes list them: the bytes of each by its kind, their root as a header
commits to it, and who signed one (EIP-155, 2718, 2930, 1559, 4844, 7702; the OP stack's deposits;
Tempo's, as accounts sign and pay them).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.chain.encoding.keccak import keccak
from apps.chain.encoding.transactions import Item, rlp
from apps.chain.encoding.trie import root_of
from apps.chain.keys.secp256k1 import V_OF_PARITY, SigningKey, recovered

_LEGACY, _ACCESS_LIST, _FEES, _BLOBS, _DELEGATIONS = range(5)
_DEPOSIT = 0x7E
_TEMPO = 0x76
_KNOWN = frozenset({*range(5), _DEPOSIT, _TEMPO})
_TYPE_MAX = 0x7F
_V_OF_CHAIN = 35  # of EIP-155, and twice the chain's id more
# Development nodes sign with shorter numbers for an account whose key they don't have.
_SIGNATURE_MIN = 1 << 200

Listed = Mapping[str, Any]


def transactions_root(transactions: Sequence[Listed]) -> str:
    """In the order of the block. Raises what reading something that isn't a transaction raises."""
    return "0x" + root_of([_written(item) for item in transactions]).hex()


def hash_of(transaction: Listed) -> str:
    """Of what the transaction says. Raises the same."""
    return "0x" + keccak(_written(transaction)).hex()


def is_certain(transaction: Listed) -> bool:
    """Tell whether it is of a known kind, and signed where that kind is: other bytes than its block
    has are a contradiction. Raises the same."""
    kind = _kind(transaction)
    if kind not in _KNOWN:
        return False
    return kind == _DEPOSIT or min(_signed(transaction, kind)[1:]) >= _SIGNATURE_MIN


def has_blobs(transaction: Listed) -> bool:
    """Tell whether its hash and its root may be of different bytes: anvil's roots have the blobs in
    them. Raises the same."""
    return _kind(transaction) == _BLOBS


def is_own(transaction: Listed) -> bool:
    """Tell whether its hash is that of what it says, and its sender signed it. Raises the same."""
    if hash_of(transaction) != transaction["hash"].lower():
        return False
    if _kind(transaction) == _DEPOSIT:
        return True  # the sender is in its bytes
    sender = transaction["from"].lower()
    return _signer(transaction) in (sender, _stand_in(sender))


def _signer(transaction: Listed) -> str:
    kind = _kind(transaction)
    v, r, s = _signed(transaction, kind)
    fields = _fields(transaction, kind)
    if kind != _LEGACY:
        v += V_OF_PARITY
    elif v >= _V_OF_CHAIN:
        chain_id, parity = divmod(v - _V_OF_CHAIN, 2)
        fields += [chain_id, 0, 0]
        v = V_OF_PARITY + parity
    return recovered(keccak(_typed(kind, fields)), v, r.to_bytes(32), s.to_bytes(32))


def _stand_in(address: str) -> str:
    """The signer that ganache uses for an account whose key it doesn't have."""
    start = _data(address)
    return SigningKey(start + start[:12]).address


def _written(transaction: Listed) -> bytes:
    kind = _kind(transaction)
    fields = _fields(transaction, kind)
    if kind == _DEPOSIT:
        return _typed(kind, fields)
    v, r, s = _signed(transaction, kind)
    if kind == _TEMPO:
        return _typed(kind, [*fields, r.to_bytes(32) + s.to_bytes(32) + bytes([V_OF_PARITY + v])])
    return _typed(kind, [*fields, v, r, s])


def _typed(kind: int, fields: list[Item]) -> bytes:
    return rlp(fields) if kind == _LEGACY else bytes([kind]) + rlp(fields)


def _fields(transaction: Listed, kind: int) -> list[Item]:
    """The signed fields, without the chain of a legacy transaction."""

    def numbers(*names: str) -> list[Item]:
        return [_number(transaction[name]) for name in names]

    if kind == _TEMPO:
        return _fields_of_tempo(transaction)
    to, data = _data(transaction.get("to") or "0x"), _data(transaction["input"])
    if kind == _DEPOSIT:
        made: list[Item] = [_data(transaction["sourceHash"]), _data(transaction["from"]), to]
        mint = _number(transaction.get("mint") or "0x0")
        is_system = int(bool(transaction.get("isSystemTx")))
        return [*made, mint, *numbers("value", "gas"), is_system, data]
    is_priced = kind in (_LEGACY, _ACCESS_LIST)
    fees = ["gasPrice"] if is_priced else ["maxPriorityFeePerGas", "maxFeePerGas"]
    fields = [*numbers("nonce", *fees, "gas"), to, *numbers("value"), data]
    if kind == _LEGACY:
        return fields
    fields = [*numbers("chainId"), *fields, [_access(item) for item in transaction["accessList"]]]
    if kind == _BLOBS:
        blobs: list[Item] = [_data(item) for item in transaction["blobVersionedHashes"]]
        fields += [*numbers("maxFeePerBlobGas"), blobs]
    if kind == _DELEGATIONS:
        fields.append([_delegation(item) for item in transaction["authorizationList"]])
    return fields


def _fields_of_tempo(transaction: Listed) -> list[Item]:
    """Raises ValueError for what another one pays, or another key than the account's allows."""
    if any(
        transaction.get(name)
        for name in ("feePayerSignature", "aaAuthorizationList", "keyAuthorization")
    ):
        raise ValueError("more than an account's own signature")
    fees = ("chainId", "maxPriorityFeePerGas", "maxFeePerGas", "gas")
    calls: list[Item] = [
        [_data(call.get("to") or "0x"), _number(call["value"]), _data(call["input"])]
        for call in transaction["calls"]
    ]
    times: list[Item] = [
        _number(transaction[name]) if transaction.get(name) else b""
        for name in ("validBefore", "validAfter")
    ]
    return [
        *(_number(transaction[name]) for name in fees),
        calls,
        [_access(item) for item in transaction["accessList"]],
        *(_number(transaction[name]) for name in ("nonceKey", "nonce")),
        *times,
        *(_data(transaction.get("feeToken") or "0x"), b"", []),
    ]


def _access(entry: Mapping[str, Any]) -> Item:
    return [_data(entry["address"]), [_data(key) for key in entry["storageKeys"]]]


def _delegation(entry: Mapping[str, Any]) -> Item:
    what: list[Item] = [_number(entry["chainId"]), _data(entry["address"]), _number(entry["nonce"])]
    return [*what, *_signature(entry, _DELEGATIONS, 0xFF)]


def _signed(transaction: Listed, kind: int) -> list[int]:
    """Its signature. Raises ValueError for one of another kind of key than accounts have."""
    if kind != _TEMPO:
        return _signature(transaction, kind)
    signature = transaction["signature"]
    if signature["type"] != "secp256k1":
        raise ValueError("a signature of another kind")
    return _signature(signature, kind)


def _signature(signed: Mapping[str, Any], kind: int, parity_max: int = 1) -> list[int]:
    """(v, r, s); v is a parity where the kind has one. Delegations that are void may have any."""
    has_parity = kind != _LEGACY and signed.get("yParity") is not None
    v = _number(signed["yParity" if has_parity else "v"])
    if kind != _LEGACY and v > parity_max:
        raise ValueError("not a parity")
    return [v, _number(signed["r"]), _number(signed["s"])]


def _kind(transaction: Listed) -> int:
    text = transaction.get("type")
    kind = _LEGACY if text is None else _number(text)
    if kind > _TYPE_MAX:
        raise ValueError("no type of a transaction")
    return kind


def _number(text: Any) -> int:
    if not isinstance(text, str) or not text.startswith("0x"):
        raise ValueError("not a hex quantity")
    return int(text, 16)


def _data(text: str) -> bytes:
    return bytes.fromhex(text[2:])
