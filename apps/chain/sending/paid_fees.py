"""The fee of a mined transaction, to the last unit: what left its sender beside the amount.

On the OP stack Ethereum's share and the operator's are taken beside gas. A node that doesn't say
them in receipts is asked for the prices at that block, from which both follow.
"""

from typing import Any

from apps.assets.models import FeeModel
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.base import Inconsistent
from apps.chain.networks.evm import op_fees
from apps.chain.providers.base import Nodes

_SHARE = "l1Fee"


def of(row: OutgoingTransaction, receipt: Any, nodes: Nodes) -> int:
    """In units of the network's own coin. Raises RpcError."""
    gas_used = int(receipt["gasUsed"], 16)
    paid = gas_used * int(receipt["effectiveGasPrice"], 16)
    if receipt.get(_SHARE) is not None:
        return paid + int(receipt[_SHARE], 16) + _operator(receipt, gas_used)
    if row.chain.fee_model != FeeModel.OP_STACK:
        return paid
    prices = op_fees.prices_at(nodes, str(receipt["blockNumber"]))
    return paid + prices.share(_bytes_of(row, receipt, nodes)) + prices.operator(gas_used)


def _operator(receipt: Any, gas_used: int) -> int:
    """A receipt without its prices is of a network that takes none."""
    scalar, constant = (
        int(receipt.get(name) or "0x0", 16) for name in ("operatorFeeScalar", "operatorFeeConstant")
    )
    is_jovian = receipt.get("daFootprintGasScalar") is not None
    return op_fees.operator_fee(gas_used, scalar, constant, is_jovian=is_jovian)


def _bytes_of(row: OutgoingTransaction, receipt: Any, nodes: Nodes) -> bytes:
    """As they were signed; those that somebody else has sent, as a node has them."""
    tx_hash = str(receipt["transactionHash"]).lower()
    for candidate in row.candidates.all():
        if candidate.tx_hash == tx_hash and candidate.raw:
            return bytes.fromhex(candidate.raw[2:])
    [raw] = nodes.anyone([("eth_getRawTransactionByHash", [tx_hash])])
    if not isinstance(raw, str):
        raise Inconsistent("a node doesn't have the bytes of a transaction that it told")
    return bytes.fromhex(raw[2:])
