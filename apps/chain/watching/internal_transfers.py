"""Native coins that contracts send to us are in no transaction's value: what a block's traces tell
of them, and how they are written down where no node can trace."""

from collections.abc import Callable

import structlog
from prometheus_client import Counter

from apps.assets.models import Chain
from apps.chain.models import Block, Deposit
from apps.chain.networks.base import Inconsistent, Transfer
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.watching.traces import FIRST_LOG_INDEX, inner_transfers

NOBODY = "0x" + "0" * 40

log = structlog.get_logger(__name__)
_unread = Counter(
    "tillgate_chain_balances_unread",
    "Balances that no node would tell",
    ["chain"],
)
_traces_failed = Counter(
    "tillgate_chain_traces_failed",
    "Coins of contracts that were booked without their transaction, though the node traces",
    ["chain"],
)


def new_transfers(
    nodes: Nodes,
    block: Block,
    address: str,
    amount_atomic: int,
    is_known: Callable[[Transfer], bool],
    *,
    is_exact: bool,
) -> list[Transfer]:
    """The unknown transfers of contracts to an address in a block; what no node can trace is the
    block's own. Together less than `amount_atomic` where the traces are whole and don't explain it.

    Raises Inconsistent for traces of more.
    """
    traced = inner_transfers(nodes, block, address) if is_exact else None
    transfers = [item for item in (traced.transfers if traced else ()) if not is_known(item)]
    remainder = amount_atomic - sum(item.amount_atomic for item in transfers)
    if remainder < 0:
        raise Inconsistent(f"block {block.number} has traces that its balances deny")
    if remainder > 0 and (traced is None or traced.untraced or not traced.can_trace):
        transfers.append(_untraced(block, address, remainder))
        if traced is not None and traced.can_trace:
            _traces_failed.labels(block.chain_id).inc()
    return transfers


def note_unread(chain: Chain, error: RpcError, address: str = "") -> None:
    """The next look finds what this one did not."""
    _unread.labels(chain.pk).inc()
    log.warning("balances_unread", chain=chain.pk, address=address, error=str(error))


def _untraced(block: Block, address: str, amount_atomic: int) -> Transfer:
    count = Deposit.objects.filter(chain_id=block.chain_id, tx_hash=block.hash).count()
    return Transfer("", block.hash, FIRST_LOG_INDEX - count, NOBODY, address, amount_atomic)
