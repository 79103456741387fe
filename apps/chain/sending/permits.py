"""Signed transfers by way of Permit2, of tokens that know none themselves: a payer who has let
Permit2 take their coins signs for one address to bring so many of them to another.

What is signed is x402's `exact` by Permit2 (`PermitWitnessTransferFrom`), whose witness names the
recipient. Permit2 itself doesn't read it: our signer does. The one who may carry it out is the
first hot wallet of the chain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.assets.models import Asset, NetworkFamily
from apps.chain.encoding import typed_data
from apps.chain.encoding.abi import encode
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.core.errors import ErrorCode

PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"  # the same on every network that has it
NAME = "Permit2"
CARRY = "0x137c29fe"
_SEPARATOR = "0x3644e515"
_BITMAP = "0x4fe02b44"
_ALLOWANCE = "0xdd62ed3e"
# Token, amount, number and end of the permit; recipient and amount; owner; witness, its type, and
# the signature.
SHAPE = (
    *("address", "uint256", "uint256", "uint256", "address", "uint256"),
    *("address", "bytes32", "string", "bytes"),
)
_WITNESS = "Witness(address to,uint256 validAfter)"
_PERMITTED = "TokenPermissions(address token,uint256 amount)"
_WITNESS_TYPE = f"Witness witness){_PERMITTED}{_WITNESS}"
_STRUCT = (
    "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256"
    f" deadline,{_WITNESS_TYPE}"
)
# What a payer signs, by the name of each struct.
STRUCTS = {
    "PermitWitnessTransferFrom": (
        *("permitted:TokenPermissions", "spender:address", "nonce:uint256"),
        *("deadline:uint256", "witness:Witness"),
    ),
    "TokenPermissions": ("token:address", "amount:uint256"),
    "Witness": ("to:address", "validAfter:uint256"),
}
# Of a signature that Permit2 checks itself.
_SIGNATURE_BYTES = 65


@dataclass(frozen=True)
class Permit:
    """A permit's token and spender, besides the payer's amount and its recipient. In lower case."""

    token: str
    spender: str


def is_for(asset: Asset) -> bool:
    """Tell whether transfers of the asset are signed so: it is a token without an authorization of
    its own."""
    is_signed_itself = bool(asset.eip712_name and asset.eip712_version)
    return (
        asset.chain.family == NetworkFamily.EVM
        and bool(asset.contract_address)
        and not is_signed_itself
    )


def carrier(chain_id: str) -> str:
    """The address that may carry permits out; empty while there is none."""
    rows = HotWallet.objects.filter(chain=chain_id, number=0)
    return rows.values_list("address", flat=True).first() or ""


def digest(
    chain_id: int, permit: Permit, to: str, amount_atomic: int, number: int, ends_at: int
) -> bytes:
    """Digest for the payer's signature. Raises ValueError or OverflowError."""
    token = encode(("address", "uint256"), (permit.token, amount_atomic))
    words = encode(
        ("bytes32", "address", "uint256", "uint256", "bytes32"),
        (typed_data.struct_hash(_PERMITTED, token), permit.spender, number, ends_at, _witness(to)),
    )
    return typed_data.digest(separator(chain_id), typed_data.struct_hash(_STRUCT, words))


def separator(chain_id: int) -> bytes:
    """Of Permit2's domain, which has no version."""
    return typed_data.domain_separator(NAME, None, chain_id, PERMIT2)


def _witness(to: str) -> bytes:
    return typed_data.struct_hash(_WITNESS, encode(("address", "uint256"), (to, 0)))


def arguments(
    token: str, payer: str, to: str, amount_atomic: int, number: int, ends_at: int, signature: bytes
) -> tuple[Any, ...]:
    """Of the call that carries a permit out."""
    if len(signature) == _SIGNATURE_BYTES and signature[64] < 2:
        signature = signature[:64] + bytes([signature[64] + 27])
    permit = (token, amount_atomic, number, ends_at)
    return (*permit, to, amount_atomic, payer, _witness(to), _WITNESS_TYPE, signature)


def is_whole(row: OutgoingTransaction, given: Sequence[Any]) -> bool:
    """Tell whether the arguments of a call bring what its record says to where the witness does."""
    token, amount, number, ends_at, to, _, payer, _, _, signature = given
    expected = arguments(token, payer, to, amount, number, ends_at, signature)
    return (
        tuple(given) == expected
        and row.to_address == PERMIT2
        and token == row.asset.contract_address
        and amount == row.amount_atomic
    )


# --- what the chain says: never inside a transaction; each raises RpcError ---


def is_there(chain_id: int, nodes: Nodes) -> bool:
    """Tell whether the network has Permit2, under the domain that is signed."""
    [answer] = nodes.each([("eth_call", [{"to": PERMIT2, "data": _SEPARATOR}, "latest"])])
    if isinstance(answer, RpcError):
        if answer.code is ErrorCode.REVERTED:
            return False
        raise answer
    return bool(answer == f"0x{separator(chain_id).hex()}")


def bitmap_call(payer: str, number: int) -> Call:
    """Asks for the word of used numbers that this one is in."""
    data = f"{_BITMAP}{payer[2:]:0>64}{number >> 8:064x}"
    return "eth_call", [{"to": PERMIT2, "data": data}, "latest"]


def says_used(answer: str | None, number: int) -> bool:
    return answer not in ("0x", None) and bool(int(answer, 16) >> (number & 0xFF) & 1)


def may_take(asset: Asset, payer: str, nodes: Nodes) -> int:
    """So much of the payer's coins Permit2 may take, by the token."""
    data = f"{_ALLOWANCE}{payer[2:]:0>64}{PERMIT2[2:]:0>64}"
    answer = nodes.call("eth_call", [{"to": asset.contract_address, "data": data}, "latest"])
    return 0 if answer in ("0x", None) else int(answer, 16)
