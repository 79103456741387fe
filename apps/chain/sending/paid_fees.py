"""The fee of a mined transaction, to the last unit: what left its sender beside the amount.

On the OP stack Ethereum's share and the operator's are taken beside gas. A node that doesn't say
them in receipts is asked for the prices at that block, from which both follow. What is taken in a
stablecoin is a transfer of its own.
"""

from typing import Any

from apps.assets.models import Asset, FeeModel
from apps.chain.models import OutgoingTransaction
from apps.chain.networks.base import Inconsistent
from apps.chain.networks.evm import op_fees
from apps.chain.providers.base import Nodes
from apps.chain.sending import calls
from apps.chain.sending.fee_coins import COLLECTOR, fee_coin, units

_SHARE = "l1Fee"


def of(row: OutgoingTransaction, receipt: Any, nodes: Nodes) -> int:
    """In units of the coin that the network takes fees in. Raises RpcError."""
    gas_used = int(receipt["gasUsed"], 16)
    paid = gas_used * int(receipt["effectiveGasPrice"], 16)
    coin = fee_coin(row.chain).token
    if coin is not None:
        return _told(row, coin, receipt) or units(coin, paid)
    if receipt.get(_SHARE) is not None:
        return paid + int(receipt[_SHARE], 16) + _operator(receipt, gas_used)
    if row.chain.fee_model != FeeModel.OP_STACK:
        return paid
    prices = op_fees.prices_at(nodes, str(receipt["blockNumber"]))
    return paid + prices.share(_bytes_of(row, receipt, nodes)) + prices.operator(gas_used)


def _told(row: OutgoingTransaction, coin: Asset, receipt: Any) -> int:
    """As a log tells it, which the block commits to."""
    move = calls.TokenTransfer(str(coin.contract_address), row.from_address, COLLECTOR, 0)
    return calls.arrived(move, receipt)


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
