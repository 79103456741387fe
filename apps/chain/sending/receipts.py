"""Judges a receipt: a transaction has done what it is for when the logs say so, not when it merely
wasn't reverted.

A token may answer false and move nothing, or keep a part. The one who asked hears of neither as of
a transfer that arrived.
"""

from dataclasses import dataclass
from typing import Any

import structlog

from apps.chain.models import OutgoingTransaction
from apps.chain.networks.base import Inconsistent
from apps.chain.networks.evm.block_receipts import Blocks, committed
from apps.chain.providers.base import Nodes
from apps.chain.reasons import Reason
from apps.chain.sending import calls, token_stops
from apps.core.money import amount_text

log = structlog.get_logger(__name__)
_Status = OutgoingTransaction.Status
_Purpose = OutgoingTransaction.Purpose
# What the hot wallet sends by the token's own call: the only thing that can refuse it besides the
# recipient is the token.
_BY_TOKEN = frozenset(_Purpose) - {
    _Purpose.SWAP,
    _Purpose.APPROVAL,
    _Purpose.X402,
    _Purpose.SWEEP,
    _Purpose.SWEEP_GAS,
    _Purpose.SWEEP_BATCH,
}


@dataclass(frozen=True)
class TransactionEnd:
    """The end of a transaction; `received_atomic` is what our wallet got, of a swap, or of a sweep
    that a token has taken a part of."""

    status: str
    reason: Reason | None = None
    text: str = ""
    received_atomic: int = 0


def believed(row: OutgoingTransaction, receipt: Any, nodes: Nodes, by_block: Blocks) -> Any:
    """The receipt as the header of its block commits to it. None while no node tells one that
    agrees: it is asked for again. `by_block` are the blocks that were read before. Raises
    RpcError."""
    try:
        return committed(nodes, row.chain_id, receipt, by_block)
    except Inconsistent as error:
        nodes.doubt()
        log.error(
            "receipt_denied_by_header",
            outgoing=str(row.pk),
            tx_hash=receipt["transactionHash"],
            error=str(error),
        )
        return None


def end_of(
    row: OutgoingTransaction,
    receipt: Any,
    wallet: str,
    nodes: Nodes,
    move: calls.TokenTransfer | None = None,
) -> TransactionEnd | None:
    """None while the receipt contradicts itself: another one is waited for. `move` is how its
    tokens move where that isn't its own transfer. Raises RpcError."""
    if int(receipt["status"], 16) != 1:
        return TransactionEnd(_Status.FAILED, _why_reverted(row, receipt, nodes))
    received = calls.received(row, receipt, wallet)
    if row.receives_asset_id and not received:
        return _ask_again(row, receipt)
    move = move or calls.move_of(row)
    if move is None or _is_exact(row, move, receipt):
        return TransactionEnd(_Status.CONFIRMED, received_atomic=received)
    arrived = calls.arrived(move, receipt)
    if not arrived and calls.hides(move, receipt):
        return _ask_again(row, receipt)
    is_taxed = 0 < arrived < row.amount_atomic == calls.taken(move, receipt)
    if row.purpose == _Purpose.SWEEP and is_taxed:
        return TransactionEnd(_Status.CONFIRMED, received_atomic=arrived)
    return TransactionEnd(_Status.REVIEW, Reason.MOVED_OTHERWISE, _text(row, move, receipt))


def _why_reverted(row: OutgoingTransaction, receipt: Any, nodes: Nodes) -> Reason:
    """The reason: whether the token moved for nobody, or not for our wallet, in that block. What a
    node can't say of it, it says of today's."""
    if row.purpose not in _BY_TOKEN or row.asset.is_native:
        return Reason.REVERTED
    for block in (str(receipt["blockNumber"]), "latest"):
        reason = token_stops.why_stopped(row.asset, row.from_address, nodes, block)
        if reason is not None:
            return reason
    return Reason.REVERTED


def _ask_again(row: OutgoingTransaction, receipt: Any) -> TransactionEnd | None:
    """It isn't believed."""
    log.error(
        "receipt_without_what_it_brought",
        outgoing=str(row.pk),
        tx_hash=receipt["transactionHash"],
    )
    return None


def _is_exact(row: OutgoingTransaction, move: calls.TokenTransfer, receipt: Any) -> bool:
    """Tell whether exactly the amount left and arrived. Of a payer's coins only what arrives
    concerns us, of what the exchange takes only what leaves."""
    has_arrived = move.to is None or calls.arrived(move, receipt) == move.amount_atomic
    has_left = row.purpose == _Purpose.X402 or calls.taken(move, receipt) == move.amount_atomic
    return has_arrived and has_left


def _text(row: OutgoingTransaction, move: calls.TokenTransfer, receipt: Any) -> str:
    """In coins: what the recipient got, and what left when that is another amount."""
    asset = row.asset
    arrival, departure, amount = (
        amount_text(atomic, asset.atomic_decimals)
        for atomic in (
            calls.arrived(move, receipt),
            calls.taken(move, receipt),
            move.amount_atomic,
        )
    )
    rest = "" if departure == amount else f", and {departure} left"
    return f"The token reports that {arrival} of {amount} {asset.coin_symbol} arrived{rest}"
