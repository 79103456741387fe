"""The receipts of a block, compared with the root of them in its header (decision 650).

They are asked for where something depends on them: of blocks in which something of ours was found,
and of those that have what we sent. A node that contradicts its header isn't believed. What can't
be compared is believed as before, which the log says once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.chain.encoding import receipts as encoding
from apps.chain.encoding.receipts import Receipt
from apps.chain.networks.base import Inconsistent
from apps.chain.networks.evm.block_headers import EMPTY_ROOT, has_some, integer, settles_later
from apps.chain.networks.evm.block_roots import MALFORMED, NotComparable, agreed
from apps.chain.providers.base import Nodes, RpcError

# A node that can't tell all receipts of a block at once is asked for so many one by one.
ALONE_MAX = 2000
TRIES_MAX = 3
ByHash = Mapping[str, Receipt]
# The blocks that were read before: their receipts, None where they can't be compared, or why they
# aren't believed.
Blocks = dict[str, ByHash | Inconsistent | None]
# What a receipt tells beside what the root has; not every node does so of all of a block.
_FEES = (
    "effectiveGasPrice",
    "l1Fee",
    "operatorFeeScalar",
    "operatorFeeConstant",
    "daFootprintGasScalar",
)


def read_receipts(nodes: Nodes, chain_id: str, block: Any) -> ByHash | None:
    """The receipts of a block as a node tells it, by their transaction; without those that no root
    has. None where they can't be compared with the header. Raises Inconsistent, or RpcError."""
    inside = agreed(chain_id, "receipts", block, lambda: _compare(nodes, chain_id, block))
    return None if inside is None else {_hash_of(item["transactionHash"]): item for item in inside}


def _compare(nodes: Nodes, chain_id: str, block: Any) -> tuple[list[Receipt], bool]:
    """The receipts that the root has, and whether it is theirs. Raises NotComparable, Inconsistent,
    or RpcError."""
    try:
        number, block_hash = integer(block["number"]), str(block["hash"]).lower()
        listed = [_hash_of(item) for item in block["transactions"]]
    except MALFORMED:
        raise Inconsistent("a node's answer isn't a block") from None
    if settles_later(chain_id, block):
        raise NotComparable("the header has the receipts of blocks before")
    if not _says_something(block):
        raise NotComparable("the header has no root of receipts")
    receipts = _ask(nodes, block_hash, listed)
    if receipts is None:
        raise NotComparable("the node doesn't tell the receipts of a block")
    if not receipts and has_some(block["receiptsRoot"]):
        raise Inconsistent("a node doesn't have the receipts of a block that it told")
    inside = _inside(receipts, listed, number, block_hash)
    try:
        agrees = encoding.receipts_root(inside) == block["receiptsRoot"].lower()
        is_certain = agrees or encoding.is_certain(inside)
    except MALFORMED:
        raise NotComparable("a receipt lacks what the root has") from None
    if not is_certain:
        raise NotComparable("a receipt is of an unknown kind")
    return inside, agrees


def receipts_at(nodes: Nodes, chain_id: str, block_hash: str) -> ByHash | None:
    """The receipts of a block by its hash, as `read_receipts`."""
    [block] = nodes.each([("eth_getBlockByHash", [block_hash, False])])
    if not isinstance(block, dict) or str(block.get("hash")).lower() != block_hash:
        raise Inconsistent("a node doesn't know a block that it named")
    return read_receipts(nodes, chain_id, block)


def committed(nodes: Nodes, chain_id: str, receipt: Receipt, by_block: Blocks) -> Receipt:
    """The receipt of the same transaction as its block commits to it, or the given one where that
    can't be compared. After a contradiction another node is asked; Inconsistent when none agrees.
    A block is read once for all that have the same `by_block`."""
    try:
        block_hash = str(receipt["blockHash"]).lower()
        tx_hash = _hash_of(receipt["transactionHash"])
    except MALFORMED:
        raise Inconsistent("a node's answer isn't a receipt") from None
    if block_hash not in by_block:
        try:
            by_block[block_hash] = _insist(nodes, chain_id, block_hash)
        except Inconsistent as error:
            by_block[block_hash] = error
    receipts = by_block[block_hash]
    if isinstance(receipts, Inconsistent):
        raise receipts
    if receipts is None:
        return receipt
    if tx_hash not in receipts:
        raise Inconsistent("a receipt is of a block that doesn't have its transaction")
    fees = {name: receipt[name] for name in _FEES if name in receipt}
    return fees | {**receipts[tx_hash]}


def _insist(nodes: Nodes, chain_id: str, block_hash: str) -> ByHash | None:
    for _ in range(TRIES_MAX - 1):
        try:
            return receipts_at(nodes, chain_id, block_hash)
        except Inconsistent:
            nodes.doubt()
    return receipts_at(nodes, chain_id, block_hash)


def _says_something(block: Any) -> bool:
    """Some chains have no root, or the same one in each header."""
    root = block.get("receiptsRoot")
    if not isinstance(root, str) or len(root) != len(EMPTY_ROOT):
        return False
    is_constant = has_some(block.get("transactionsRoot")) or int(root, 16) == 0
    return has_some(root) or (root.lower() == EMPTY_ROOT and not is_constant)


def _ask(nodes: Nodes, block_hash: str, listed: Sequence[str]) -> list[Any] | None:
    """All at once, or one by one where a node can't; None where it won't."""
    try:
        [answer] = nodes.each([("eth_getBlockReceipts", [block_hash])])
    except RpcError:  # of a busy block they may be too much for one answer
        answer = None
    if isinstance(answer, list):
        return answer
    if len(listed) > ALONE_MAX:
        return None
    # Who hasn't, or doesn't tell, the first isn't asked for all of them.
    answers = _each_alone(nodes, listed[:1])
    if any(isinstance(item, dict) for item in answers):
        answers += _each_alone(nodes, listed[1:])
    while answers and answers[-1] is None:  # of what is listed beside what the header has
        answers.pop()
    return None if any(isinstance(item, RpcError) for item in answers) else answers


def _each_alone(nodes: Nodes, hashes: Sequence[str]) -> list[Any]:
    return nodes.each([("eth_getTransactionReceipt", [item]) for item in hashes])


def _inside(
    receipts: Sequence[Any], listed: Sequence[str], number: int, block_hash: str
) -> list[Receipt]:
    """Those that the root has, which are of the block's transactions in their order. Whether they
    are all of them the root says. Raises Inconsistent."""
    outside = encoding.outside_root(number, block_hash)
    try:
        ordered = sorted(receipts, key=lambda item: integer(item["transactionIndex"]))
        inside = [item for item in ordered if _hash_of(item["transactionHash"]) != outside]
        hashes = [_hash_of(item["transactionHash"]) for item in inside]
        are_listed = hashes == [item for item in listed if item != outside][: len(hashes)]
        is_here = all(str(item["blockHash"]).lower() == block_hash for item in inside)
    except MALFORMED:
        raise Inconsistent("a node's answer isn't a receipt, or one is missing") from None
    if not are_listed or not is_here:
        raise Inconsistent(f"block {number} has other transactions than receipts")
    return inside


def _hash_of(item: Any) -> str:
    """Of a transaction, which may be given by its hash alone."""
    text = item if isinstance(item, str) else item["hash"]
    return str(text).lower()
