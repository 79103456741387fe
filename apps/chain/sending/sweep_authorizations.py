"""Sweeps in a batch on networks without delegations: each address signs that its coins go to the
wallet's contract (EIP-3009, `receiveWithAuthorization`), which passes them on to the wallet.

The contract alone can carry such a signature out, and only the wallet calls it. A batch's stored
call has no signatures: the signer makes them, for the network, the token, the amount and the
batch's own number.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from apps.assets.models import Asset
from apps.chain.encoding import typed_data
from apps.chain.encoding.abi import encode
from apps.chain.encoding.keccak import keccak
from apps.chain.keys.secp256k1 import Signs
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.evm import sweepers
from apps.chain.providers.base import Nodes, RpcError

_SEPARATOR = "0x3644e515"
_STATE = "0xe94a0102"
_STRUCT = (
    "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256"
    " validBefore,bytes32 nonce)"
)
_TYPES = ("address", "address", "uint256", "uint256", "uint256", "bytes32")
_FOR_EVER = 2**256 - 1
# For so long a token isn't asked again that has moved nothing of a whole batch.
_REST = timedelta(days=1)
_WORD = 32
_Status = OutgoingTransaction.Status


def is_by_signature(batch: OutgoingTransaction) -> bool:
    """Tell whether a batch's addresses sign its transfers and not a delegation."""
    return batch.call_data.startswith(sweepers.COLLECTS)


def number_of(batch: OutgoingTransaction) -> bytes:
    """Under this number its addresses sign, each once."""
    return keccak(batch.reference.encode())


def call_of(
    batch: OutgoingTransaction,
    parts: Sequence[OutgoingTransaction],
    keys: Mapping[str, Signs] | None = None,
) -> str:
    """The call of a batch with these parts: as it is stored or, with the keys of their addresses,
    as it is sent."""
    token, number = str(batch.asset.contract_address), number_of(batch)
    signatures = (
        {}
        if keys is None
        else {
            part.from_address: keys[part.from_address].sign(
                digest(batch.asset, batch.to_address, part.from_address, part.amount_atomic, number)
            )
            for part in parts
        }
    )
    pairs = sorted((part.from_address, part.amount_atomic) for part in parts)
    return sweepers.collecting(token, number, pairs, signatures)


def digest(asset: Asset, contract: str, payer: str, amount_atomic: int, number: bytes) -> bytes:
    """The digest that an address signs so that the contract gets so much of it."""
    return typed_data.digest(
        _domain(asset),
        typed_data.struct_hash(
            _STRUCT, encode(_TYPES, (payer, contract, amount_atomic, 0, _FOR_EVER, number))
        ),
    )


def are_taken(asset: Asset, at: datetime, nodes: Nodes) -> bool:
    """Tell whether a token takes signed transfers in the domain that its row names, and has moved
    something of the newest batch of them. Raises RpcError where no node answers."""
    if not asset.eip712_name or not asset.eip712_version:
        return False
    newest = (
        OutgoingTransaction.objects.filter(
            asset=asset,
            purpose=OutgoingTransaction.Purpose.SWEEP_BATCH,
            call_data__startswith=sweepers.COLLECTS,
            finished_at__gt=at - _REST,
        )
        .order_by("-finished_at")
        .first()
    )
    if newest is not None and not newest.parts.filter(status=_Status.CONFIRMED).exists():
        return False
    contract = asset.contract_address
    of_nobody = encode(["address", "bytes32"], ["0x" + "00" * 20, bytes(_WORD)]).hex()
    separator, state = nodes.each(
        [
            ("eth_call", [{"to": contract, "data": _SEPARATOR}, "latest"]),
            ("eth_call", [{"to": contract, "data": _STATE + of_nobody}, "latest"]),
        ]
    )
    if isinstance(separator, RpcError) or isinstance(state, RpcError):
        return False
    return bool(separator == "0x" + _domain(asset).hex() and state == "0x" + "00" * _WORD)


def _domain(asset: Asset) -> bytes:
    return typed_data.domain_separator(
        asset.eip712_name,
        asset.eip712_version,
        asset.chain.chain_id,
        str(asset.contract_address),
    )
