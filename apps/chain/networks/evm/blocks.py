"""Answers of a node about blocks, read strictly: a block, the transfers in it that may be ours, and
receipts.

Logs are asked for by the block's hash, so that a node that lags or has changed its mind gives an
error and never a short answer.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from apps.chain.encoding.receipts import outside_root
from apps.chain.networks.base import (
    NATIVE_LOG_INDEX,
    BlockHeader,
    BlockRead,
    Inconsistent,
    Transfer,
)
from apps.chain.networks.evm.block_checks import read_logs
from apps.chain.networks.evm.block_headers import TRANSFER_TOPIC, header_of, integer
from apps.chain.networks.evm.block_receipts import ByHash
from apps.chain.providers.base import Nodes, RpcError
from apps.chain.rpc.state import BlockReference, each_at


def read_headers(nodes: Nodes, numbers: Sequence[int]) -> list[BlockHeader]:
    """Blocks by number; Inconsistent when the node has not all of them."""
    headers = [
        header_of(item)
        for item in nodes.batch(
            [("eth_getBlockByNumber", [hex(number), False]) for number in numbers]
        )
    ]
    if [item.number for item in headers] != list(numbers):
        raise Inconsistent("a node answered with another block")
    return headers


def read_blocks(
    nodes: Nodes, chain_id: str, numbers: Sequence[int], contracts: Sequence[str]
) -> list[BlockRead]:
    """Blocks by number with their transfers: one call per block, and two more for the number of its
    transactions and the logs of the tokens. Raises Inconsistent where they contradict its header.
    """
    blocks = nodes.batch([("eth_getBlockByNumber", [hex(number), True]) for number in numbers])
    headers = [header_of(item) for item in blocks]
    if [item.number for item in headers] != list(numbers):
        raise Inconsistent("a node answered with another block")
    logs = read_logs(nodes, chain_id, headers, blocks, contracts)
    contract_names = frozenset(contracts)
    return [
        BlockRead(
            header,
            _native_transfers(header, block) + _token_transfers(header, entries, contract_names),
            block,
        )
        for header, block, entries in zip(headers, blocks, logs, strict=True)
    ]


def check_transfers(block: BlockRead, receipts: ByHash, contracts: Sequence[str]) -> None:
    """The transfers of tokens that were read are those of the receipts to which the header commits,
    beside those of a bridge that no header has. Raises Inconsistent."""
    outside = outside_root(block.header.number, block.header.hash)
    logs = [
        {**entry, "transactionHash": tx_hash}
        for tx_hash, receipt in receipts.items()
        for entry in receipt["logs"]
    ]
    read = [item for item in block.transfers if item.contract and item.tx_hash != outside]
    if _moves(read) != _moves(_token_transfers(block.header, logs, frozenset(contracts))):
        raise Inconsistent(f"block {block.header.number} has other transfers than receipts")


def _moves(transfers: Iterable[Transfer]) -> Counter[tuple[str, str, str, str, int]]:
    return Counter(
        (item.contract, item.tx_hash, item.from_address, item.to_address, item.amount_atomic)
        for item in transfers
    )


def succeeded(
    nodes: Nodes, block_hash: str, tx_hashes: Sequence[str], compared: ByHash | None
) -> set[str]:
    """Transactions of a block that were not reverted, by its receipts where they were compared."""
    hashes = set(tx_hashes)
    receipts = (
        [*compared.values()]
        if compared is not None
        else nodes.batch([("eth_getTransactionReceipt", [item]) for item in sorted(hashes)])
    )
    try:
        by_hash = {
            item["transactionHash"].lower(): item
            for item in receipts
            if item["blockHash"].lower() == block_hash
        }
        if not hashes <= by_hash.keys():
            raise Inconsistent("a receipt is missing")
        return {tx_hash for tx_hash in hashes if integer(by_hash[tx_hash]["status"]) == 1}
    except (TypeError, KeyError, ValueError, AttributeError):
        raise Inconsistent("a node's answer isn't a receipt") from None


def balances(nodes: Nodes, addresses: Sequence[str], at: BlockReference) -> list[int]:
    """Balances of addresses after a block, in atomic units."""
    return _figures(nodes, "eth_getBalance", addresses, at)


def sent_counts(nodes: Nodes, addresses: Sequence[str], at: BlockReference) -> list[int]:
    """How many transactions each address has sent up to a block."""
    return _figures(nodes, "eth_getTransactionCount", addresses, at)


def _figures(nodes: Nodes, method: str, addresses: Sequence[str], at: BlockReference) -> list[int]:
    figures = []
    for answer in each_at(nodes, [(method, [address, at.hash]) for address in addresses], at):
        if isinstance(answer, RpcError):
            raise answer
        try:
            figures.append(integer(answer))
        except (TypeError, ValueError):
            raise Inconsistent("a node's answer isn't a figure") from None
    return figures


def _native_transfers(header: BlockHeader, block: Any) -> list[Transfer]:
    try:
        return [
            Transfer(
                "",
                transaction["hash"].lower(),
                NATIVE_LOG_INDEX,
                transaction["from"].lower(),
                transaction["to"].lower(),
                amount,
            )
            for transaction in block["transactions"]
            if transaction.get("to") is not None and (amount := integer(transaction["value"])) > 0
        ]
    except (TypeError, KeyError, ValueError, AttributeError):
        raise Inconsistent(f"block {header.number} has a transaction that isn't one") from None


def _token_transfers(header: BlockHeader, logs: Any, contracts: Iterable[str]) -> list[Transfer]:
    """Transfers of our tokens, each once however often the node repeats it."""
    transfers: dict[tuple[str, int], Transfer] = {}
    try:
        for entry in logs:
            if entry["blockHash"].lower() != header.hash or entry.get("removed"):
                raise Inconsistent(f"a log of another block than {header.number}")
            topics = entry["topics"]
            contract = entry["address"].lower()
            if (
                contract not in contracts
                or len(topics) != 3
                or topics[0].lower() != TRANSFER_TOPIC
                or len(entry["data"]) != 66
            ):
                continue
            if (amount := integer(entry["data"])) > 0:
                key = entry["transactionHash"].lower(), integer(entry["logIndex"])
                transfers[key] = Transfer(
                    contract, *key, _address(topics[1]), _address(topics[2]), amount
                )
    except (TypeError, KeyError, ValueError, AttributeError):
        raise Inconsistent(f"block {header.number} has a log that isn't one") from None
    return list(transfers.values())


def _address(topic: str) -> str:
    return "0x" + topic[-40:].lower()
