"""Signed transfers of a token (EIP-3009): a payer's signature lets anybody bring the payer's coins
to the address in it.

Here is what the payer signs, the call that carries it out, and what the chain says about both.
Nothing of ours moves but gas.
"""

import secrets
from dataclasses import dataclass

from apps.assets.models import Asset
from apps.chain.encoding import typed_data
from apps.chain.encoding.abi import decode, encode
from apps.chain.keys.secp256k1 import recovered
from apps.chain.models import Address, HotWallet, OutgoingTransaction
from apps.chain.networks.evm.block_receipts import Blocks, committed
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.reasons import Reason
from apps.chain.sending import balances
from apps.core.errors import ErrorCode

_TRANSFER = "0xe3ee160e"
_STATE = "0xe94a0102"
_SHAPE = (
    "address",
    "address",
    "uint256",
    "uint256",
    "uint256",
    "bytes32",
    "uint8",
    "bytes32",
    "bytes32",
)
_SELECTOR_LENGTH = 10
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
_TYPES = _SHAPE[:6]


@dataclass(frozen=True)
class Authorization:
    """A payer's signed authorization. Addresses, nonce and signature are lower-case hex; the times
    are Unix seconds."""

    payer: str
    to: str
    amount_atomic: int
    valid_after: int
    valid_before: int
    nonce: str
    signature: str


def unused_number() -> str:
    """A nonce that nobody has used."""
    return f"0x{secrets.token_hex(32)}"


def is_signed_by_payer(asset: Asset, authorization: Authorization) -> bool:
    """True if the signature is the payer's own, for this token on this chain."""
    try:
        return (
            recovered(digest(asset, authorization), *_parts(authorization.signature))
            == authorization.payer
        )
    except (ValueError, OverflowError):
        return False


def digest(asset: Asset, authorization: Authorization) -> bytes:
    """Digest for the payer's signature; an existing signature isn't looked at. Raises ValueError or
    OverflowError."""
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
    """The call of the token's contract that carries an authorization out."""
    return (
        _TRANSFER
        + encode(_SHAPE, (*_members(authorization), *_parts(authorization.signature))).hex()
    )


def refusal(row: OutgoingTransaction) -> Reason | None:
    """Why the signer may not sign the call; None when it brings somebody else's coins to one of our
    deposit addresses."""
    try:
        payer, to, amount, *rest = decode(_SHAPE, bytes.fromhex(row.call_data[_SELECTOR_LENGTH:]))
        is_whole = row.call_data == _TRANSFER + encode(_SHAPE, (payer, to, amount, *rest)).hex()
    except (ValueError, OverflowError):
        is_whole = False
    if (
        not is_whole
        or row.asset.is_native
        or row.to_address != row.asset.contract_address
        or amount != row.amount_atomic
    ):
        return Reason.STRANGE_CALL
    if not Address.objects.filter(
        address=to, mode=row.mode, purpose=Address.Purpose.DEPOSIT
    ).exists():
        return Reason.NOT_TO_DEPOSIT
    if HotWallet.objects.filter(address=payer).exists():
        return Reason.FROM_HOT_WALLET
    return None


def parties(row: OutgoingTransaction) -> tuple[str, str]:
    """Payer and recipient of a signable call."""
    payer, to, *_ = decode(_SHAPE, bytes.fromhex(row.call_data[_SELECTOR_LENGTH:]))
    return str(payer), str(to)


def valid_before(row: OutgoingTransaction) -> int:
    """Until when the token carries it out, in Unix seconds."""
    return int(decode(_SHAPE, bytes.fromhex(row.call_data[_SELECTOR_LENGTH:]))[4])


# --- what the chain says: never inside a transaction; each raises RpcError ---


def is_used(asset: Asset, authorization: Authorization, nodes: Nodes) -> bool:
    """True if the token has seen the nonce, spent or called off."""
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


def would_pass(asset: Asset, authorization: Authorization, nodes: Nodes) -> bool:
    """True if the token would carry it out now."""
    wallet = HotWallet.objects.filter(chain=asset.chain_id).first()
    call = {
        "to": asset.contract_address,
        "data": call_data(authorization),
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
