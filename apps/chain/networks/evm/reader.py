"""Reads an EVM network by its nodes: blocks with their transactions and the logs of our tokens, and
compares both with the roots in the header."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from apps.assets.models import Chain
from apps.chain.networks.base import (
    Arrival,
    BlockHeader,
    BlockRead,
    OtherBlock,
    TransactionRead,
    Waiting,
)
from apps.chain.networks.evm import announced, blocks
from apps.chain.networks.evm.block_headers import header_of
from apps.chain.networks.evm.block_receipts import read_receipts
from apps.chain.networks.evm.block_transactions import check_transactions
from apps.chain.networks.finality import confirmations
from apps.chain.providers.base import Nodes


class EvmReader:
    """`announcements` brings what nodes have announced since it was asked last."""

    def __init__(
        self, chain: Chain, nodes: Nodes, announcements: Callable[[], list[Any]] | None = None
    ) -> None:
        self.nodes = nodes
        self._announcements = announcements
        self._chain_id = chain.pk

    @property
    def genesis_hash(self) -> str:
        return self.nodes.genesis_hash

    def latest(self, known_number: int) -> BlockHeader:
        return header_of(self.nodes.latest(known_number))

    def tagged(self, tag: str) -> BlockHeader | None:
        [told] = self.nodes.each([("eth_getBlockByNumber", [tag, False])])
        return header_of(told) if isinstance(told, dict) else None

    def headers(self, numbers: Sequence[int]) -> list[BlockHeader]:
        return blocks.read_headers(self.nodes, numbers)

    def blocks(self, numbers: Sequence[int], contracts: Sequence[str]) -> list[BlockRead]:
        return blocks.read_blocks(self.nodes, self._chain_id, numbers, contracts)

    def check(self, block: BlockRead, arrivals: Sequence[Arrival]) -> None:
        paying = {transfer.tx_hash for _, transfer in arrivals if not transfer.contract}
        check_transactions(self._chain_id, block.told, paying)

    def arrived(
        self, block: BlockRead, arrivals: Sequence[Arrival], contracts: Sequence[str]
    ) -> list[Arrival]:
        """Arrivals of a block: a reverted transaction moved nothing; tokens are those of the
        receipts."""
        receipts = read_receipts(self.nodes, self._chain_id, block.told)
        if receipts is not None:
            blocks.check_transfers(block, receipts, contracts)
        native = [transfer.tx_hash for _, transfer in arrivals if not transfer.contract]
        if not native:
            return [*arrivals]
        moved = blocks.succeeded(self.nodes, block.header.hash, native, receipts)
        return [
            (asset, transfer)
            for asset, transfer in arrivals
            if transfer.contract or transfer.tx_hash in moved
        ]

    def transaction(
        self, tx_hash: str, contracts: Sequence[str], required_confirmations: int
    ) -> TransactionRead | None:
        [receipt] = self.nodes.anyone([("eth_getTransactionReceipt", [tx_hash])])
        if not receipt or not receipt.get("blockNumber"):
            return None
        number = int(receipt["blockNumber"], 16)
        tip = int(self.nodes.call("eth_blockNumber", []), 16)
        depth = confirmations(number, tip)
        if depth < required_confirmations or int(receipt["status"], 16) != 1:
            return TransactionRead(depth)
        [block] = self.blocks([number], contracts)
        if block.header.hash != str(receipt["blockHash"]).lower():
            raise OtherBlock(f"block {number} is another than the receipt's")
        check_transactions(self._chain_id, block.told, [tx_hash])
        receipts = read_receipts(self.nodes, self._chain_id, block.told)
        if receipts is not None:
            blocks.check_transfers(block, receipts, contracts)
            if int(receipts.get(tx_hash, receipt)["status"], 16) != 1:
                return TransactionRead(depth)
        transfers = [transfer for transfer in block.transfers if transfer.tx_hash == tx_hash]
        signers = frozenset([str(receipt["from"]).lower()])
        return TransactionRead(depth, True, signers, transfers)

    def waiting(self, known: Collection[str], asked: Collection[str]) -> Waiting | None:
        if self._announcements is None:
            return None
        new = announced.sightings(self._announcements())
        return Waiting(announced.still_waiting(self.nodes, asked), tuple(new))

    def spenders(self, block: BlockRead, places: Collection[str]) -> dict[str, str]:
        return announced.takers(block.told, places)

    def doubt(self) -> None:
        self.nodes.doubt()

    def close(self) -> None:
        self.nodes.close()
