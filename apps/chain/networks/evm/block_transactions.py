"""The transactions of a block, compared with the root of them in its header, and those that pay us
with their hash and signature (decision 652): of blocks in which something of ours was found."""

from collections.abc import Collection
from typing import Any

from apps.chain.encoding import listed as encoding
from apps.chain.encoding.receipts import outside_root
from apps.chain.networks.base import Inconsistent
from apps.chain.networks.evm.block_headers import has_some, integer
from apps.chain.networks.evm.block_roots import MALFORMED, NotComparable, agreed


def check_transactions(chain_id: str, block: Any, ours: Collection[str]) -> None:
    """Of a block as a node tells it; `ours` are the hashes of what pays us. Raises Inconsistent."""
    agreed(chain_id, "transactions", block, lambda: (None, _agrees(block, ours)))


def _agrees(block: Any, ours: Collection[str]) -> bool:
    try:
        outside = outside_root(integer(block["number"]), block["hash"].lower())
        inside = [item for item in block["transactions"] if item["hash"].lower() != outside]
        root = block.get("transactionsRoot")
    except MALFORMED:
        raise Inconsistent("a node's answer isn't a block") from None
    try:
        paying = [item for item in inside if item["hash"].lower() in ours]
        if not all(encoding.is_own(item) for item in paying if encoding.is_certain(item)):
            return False
        if not has_some(root):
            raise NotComparable("the header has no root of transactions")
        if encoding.transactions_root(inside) == root.lower():
            return True
        is_certain = all(map(encoding.is_certain, inside)) and not any(
            map(encoding.has_blobs, inside)
        )
    except MALFORMED:
        raise NotComparable("a transaction lacks what the root has") from None
    if not is_certain:
        raise NotComparable("a transaction has blobs, no signature, or an unknown kind")
    return False
