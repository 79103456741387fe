"""Signed transfers of a token (EIP-3009): a payer's signature lets anybody bring the payer's coins
to the address in it; or of a token that knows none, by way of Permit2 (`permits`). A payer that is
a contract says itself what is its signature (EIP-1271).

Here is what the payer signs, the call that carries it out, and what the chain says about both.
Nothing of ours moves but gas.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from apps.assets.models import Asset
from apps.chain.encoding import typed_data
from apps.chain.encoding.abi import decode, encode
from apps.chain.keys.secp256k1 import recovered
from apps.chain.models import Address, HotWallet, OutgoingTransaction
from apps.chain.networks.evm.block_receipts import Blocks, committed
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.reasons import Reason
from apps.chain.sending import balances, permits
from apps.chain.sending.permits import Permit
from apps.core.errors import ErrorCode

_TRANSFER = "0xe3ee160e"
# The same with a signature of any length, as contracts have (USDC since its version 2.2).
_TRANSFER_FOR_CONTRACTS = "0xcf092995"
_STATE = "0xe94a0102"
_TYPES = ("address", "address", "uint256", "uint256", "uint256", "bytes32")
_SHAPES = {
    _TRANSFER: (*_TYPES, "uint8", "bytes32", "bytes32"),
    _TRANSFER_FOR_CONTRACTS: (*_TYPES, "bytes"),
    permits.CARRY: permits.SHAPE,
}
_SELECTOR_LENGTH = 10
# The most that carrying one out may take, of which a contract's own check is the larger part.
GAS_MAX = 300_000
_SIGNATURE_BYTES = 65
# What a payer signs, each with its type.
MEMBERS = (
    "from:address",
    "to:address",
    "value:uint256",
    "validAfter:uint256",
    "validBefore:uint256",
    "nonce:bytes32",
)
_STRUCT = (
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256"
    " validBefore,bytes32 nonce)"
)


@dataclass(frozen=True)
class Authorization:
    """A payer's signed authorization. Addresses, nonce and signature are lower-case hex; the times
    are Unix seconds. One that has a `permit` is for Permit2."""

    payer: str
    to: str
    amount_atomic: int
    valid_after: int
    valid_before: int
    nonce: str
    signature: str
    permit: Permit | None = None

    @property
    def number(self) -> int:
        """The nonce."""
        return int(self.nonce, 16)


def contract_of(asset: Asset, authorization: Authorization) -> str:
    """The contract that carries it out, and remembers its nonce."""
    return permits.PERMIT2 if authorization.permit else str(asset.contract_address)


def unused_number() -> str:
    """A nonce that nobody has used."""
    return f"0x{secrets.token_hex(32)}"


def is_signed_by_payer(asset: Asset, authorization: Authorization) -> bool:
    """True if the signature is of the payer's own key, for this token on this chain."""
    try:
        return (
            recovered(digest(asset, authorization), *_parts(authorization.signature))
            == authorization.payer
        )
    except (ValueError, OverflowError):
        return False


def is_signed_by_contract(asset: Asset, authorization: Authorization, nodes: Nodes) -> bool:
    """True if the payer is a contract and calls the signature its own. Raises RpcError."""
    try:
        wanted = digest(asset, authorization)
    except (ValueError, OverflowError):
        return False
    signature = bytes.fromhex(authorization.signature[2:])
    data = typed_data.contract_question(wanted, signature)
    call = {"to": authorization.payer, "data": data, "gas": hex(GAS_MAX)}
    [answer] = nodes.each([("eth_call", [call, "latest"])])
    if isinstance(answer, RpcError):
        if answer.is_refusal:
            return False
        raise answer
    return bool(answer == typed_data.IS_OWN)


def digest(asset: Asset, authorization: Authorization) -> bytes:
    """Digest for the payer's signature; an existing signature isn't looked at. Raises ValueError or
    OverflowError."""
    if authorization.permit:
        return permits.digest(
            asset.chain.chain_id,
            authorization.permit,
            authorization.to,
            authorization.amount_atomic,
            authorization.number,
            authorization.valid_before,
        )
    contract = str(asset.contract_address)
    domain = typed_data.domain_separator(
        asset.eip712_name, asset.eip712_version, asset.chain.chain_id, contract
    )
    return typed_data.digest(
        domain, typed_data.struct_hash(_STRUCT, encode(_TYPES, _members(authorization)))
    )


def _members(authorization: Authorization) -> tuple[str, str, int, int, int, bytes]:
    times = (authorization.valid_after, authorization.valid_before)
    return (
        authorization.payer,
        authorization.to,
        authorization.amount_atomic,
        *times,
        bytes.fromhex(authorization.nonce[2:]),
    )


def _parts(signature: str) -> tuple[int, bytes, bytes]:
    raw = bytes.fromhex(signature[2:])
    if len(raw) != _SIGNATURE_BYTES:
        raise ValueError("not 65 bytes")
    return raw[64] + 27 if raw[64] < 27 else raw[64], raw[:32], raw[32:64]


def call_data(authorization: Authorization) -> str:
    """The call of the contract that carries an authorization out. Raises ValueError or
    OverflowError."""
    signature = bytes.fromhex(authorization.signature[2:])
    if authorization.permit:
        permit = permits.arguments(
            authorization.permit.token,
            authorization.payer,
            authorization.to,
            authorization.amount_atomic,
            authorization.number,
            authorization.valid_before,
            signature,
        )
        return _call(permits.CARRY, *permit)
    if len(signature) == _SIGNATURE_BYTES:
        return _call(_TRANSFER, *_members(authorization), *_parts(authorization.signature))
    return _call(_TRANSFER_FOR_CONTRACTS, *_members(authorization), signature)


def _call(selector: str, *arguments: Any) -> str:
    return selector + encode(_SHAPES[selector], arguments).hex()


def _read(row: OutgoingTransaction) -> tuple[Any, ...]:
    """The arguments of a call. Raises ValueError or OverflowError for another one."""
    shape = _SHAPES.get(row.call_data[:_SELECTOR_LENGTH])
    if shape is None:
        raise ValueError("no signed transfer")
    return decode(shape, bytes.fromhex(row.call_data[_SELECTOR_LENGTH:]))


def refusal(row: OutgoingTransaction) -> Reason | None:
    """Why the signer may not sign the call; None when it brings somebody else's coins to one of our
    deposit addresses."""
    try:
        given = _read(row)
        payer, to = parties(row)
        is_whole = row.call_data == _call(row.call_data[:_SELECTOR_LENGTH], *given)
        is_right = permits.is_whole(row, given) if _is_permit(row) else _is_of_record(row, given)
    except (ValueError, OverflowError):
        is_whole = False
    if not is_whole or row.asset.is_native or not is_right:
        return Reason.STRANGE_CALL
    if not Address.objects.filter(
        address=to, mode=row.mode, purpose=Address.Purpose.DEPOSIT
    ).exists():
        return Reason.NOT_TO_DEPOSIT
    if HotWallet.objects.filter(address=payer).exists():
        return Reason.FROM_HOT_WALLET
    return None


def _is_permit(row: OutgoingTransaction) -> bool:
    return row.call_data.startswith(permits.CARRY)


def _is_of_record(row: OutgoingTransaction, given: tuple[Any, ...]) -> bool:
    return row.to_address == row.asset.contract_address and given[2] == row.amount_atomic


def parties(row: OutgoingTransaction) -> tuple[str, str]:
    """Payer and recipient of a signable call."""
    given = _read(row)
    payer, to = (given[6], given[4]) if _is_permit(row) else given[:2]
    return str(payer), str(to)


def valid_before(row: OutgoingTransaction) -> int:
    """Until when it is carried out, in Unix seconds."""
    return int(_read(row)[3 if _is_permit(row) else 4])


# --- what the chain says: never inside a transaction; each raises RpcError ---


def is_used(asset: Asset, authorization: Authorization, nodes: Nodes) -> bool:
    """True if the contract has seen the nonce, spent or called off."""
    if authorization.permit:
        number = authorization.number
        word = nodes.call(*permits.bitmap_call(authorization.payer, number))
        return permits.says_used(word, number)
    return says_used(nodes.call(*state_call(asset, authorization)))


def state_call(asset: Asset, authorization: Authorization) -> Call:
    """Asks the token whether it has seen the nonce."""
    data = f"{_STATE}{authorization.payer[2:]:0>64}{authorization.nonce[2:]}"
    return "eth_call", [{"to": asset.contract_address, "data": data}, "latest"]


def says_used(answer: str | None) -> bool:
    """Read the token's answer to it."""
    return answer not in ("0x", None) and int(answer, 16) != 0


def is_covered(asset: Asset, authorization: Authorization, nodes: Nodes) -> bool:
    """True if the payer holds the amount."""
    return balances.of_token(asset, authorization.payer, nodes) >= authorization.amount_atomic


def is_allowed(asset: Asset, authorization: Authorization, nodes: Nodes) -> bool:
    """True if Permit2 may take the amount; nothing else has to be allowed."""
    if not authorization.permit:
        return True
    allowed = permits.may_take(asset, authorization.payer, nodes)
    return allowed >= authorization.amount_atomic


def would_pass(asset: Asset, authorization: Authorization, nodes: Nodes) -> bool:
    """True if the contract would carry it out now, for gas that may be spent on it."""
    wallet = HotWallet.objects.filter(chain=asset.chain_id).order_by("number").first()
    call = {
        "to": contract_of(asset, authorization),
        "data": call_data(authorization),
        "gas": hex(GAS_MAX),
        **({"from": wallet.address} if wallet else {}),
    }
    try:
        nodes.call("eth_call", [call, "latest"])
    except RpcError as error:
        if error.code is ErrorCode.REVERTED:
            return False
        raise
    return True


def mined(row: OutgoingTransaction, nodes: Nodes) -> tuple[str, bool]:
    """The hash of the transaction that carried it out, when a block has it; empty before. One that
    was reverted isn't it; whether there is one comes second."""
    hashes = list(row.candidates.values_list("tx_hash", flat=True))
    receipts = nodes.anyone([("eth_getTransactionReceipt", [tx_hash]) for tx_hash in hashes])
    by_block: Blocks = {}
    statuses = [
        int(committed(nodes, row.chain_id, receipt, by_block)["status"], 16)
        if receipt and receipt.get("blockHash")
        else None
        for receipt in receipts
    ]
    pairs = zip(hashes, statuses, strict=True)
    return next((tx_hash for tx_hash, status in pairs if status == 1), ""), 0 in statuses
