"""Reads a network of Bitcoin's family by its nodes: raw blocks, which are compared with their own
hash, so that a node can leave out or make up nothing in one.

A payment out of Litecoin's private part waits under the id of its kernel, which no block has as a
transaction, and is mined as an output of the block's last one.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from apps.assets.models import Chain
from apps.chain.networks.base import (
    Arrival,
    BlockHeader,
    BlockRead,
    CoinPlace,
    Inconsistent,
    OtherBlock,
    TransactionRead,
    Transfer,
    Waiting,
)
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.blocks import RawBlock, RawHeader, read_block, read_header
from apps.chain.networks.bitcoin.kernels import kernel_transfers
from apps.chain.networks.bitcoin.mempool import read_waiting
from apps.chain.networks.bitcoin.parameters import parameters_of
from apps.chain.networks.bitcoin.transactions import Output, RawTransaction
from apps.chain.networks.finality import confirmations
from apps.chain.providers.base import Call, Nodes

# Blocks before an output may be spent, its own included.
COINBASE_DEPTH = 100
PRIVATE_DEPTH = 6


class BitcoinReader:
    def __init__(self, chain: Chain, nodes: Nodes) -> None:
        self.nodes = nodes
        self._addresses = BitcoinAddresses(parameters_of(chain.chain_id))

    @property
    def genesis_hash(self) -> str:
        return self.nodes.genesis_hash

    def latest(self, known_number: int) -> BlockHeader:
        told = self.nodes.latest(known_number)
        [header] = self._headers([told["blocks"]], [told["bestblockhash"]])
        return header

    def tagged(self, tag: str) -> BlockHeader | None:
        return None

    def headers(self, numbers: Sequence[int]) -> list[BlockHeader]:
        return self._headers(numbers, self._hashes(numbers))

    def blocks(self, numbers: Sequence[int], contracts: Sequence[str]) -> list[BlockRead]:
        hashes = self._hashes(numbers)
        answers = self.nodes.batch([("getblock", [each, 0]) for each in hashes])
        return [
            self._block(number, block_hash, answer)
            for number, block_hash, answer in zip(numbers, hashes, answers, strict=True)
        ]

    def check(self, block: BlockRead, arrivals: Sequence[Arrival]) -> None:
        """The transfers are the block's own: its bytes were compared with its hash."""

    def arrived(
        self, block: BlockRead, arrivals: Sequence[Arrival], contracts: Sequence[str]
    ) -> list[Arrival]:
        return [*arrivals]

    def transaction(
        self, tx_hash: str, contracts: Sequence[str], required_confirmations: int
    ) -> TransactionRead | None:
        """By the hash of a transaction, or by the id under which a payment out of the private part
        has waited: what it paid is found with its kernel, in the last blocks."""
        block_hash = self._block_with(tx_hash)
        if not block_hash:
            return kernel_transfers(self, tx_hash, required_confirmations)
        header, depth = self._depth_of(block_hash)
        if depth < required_confirmations:
            return TransactionRead(depth)
        block = self.block_with_hash(header.number, block_hash)
        transfers = [transfer for transfer in block.transfers if transfer.tx_hash == tx_hash]
        if tx_hash not in {each.tx_hash for each in block.told.transactions}:
            raise OtherBlock(f"block {header.number} hasn't the transaction")
        return TransactionRead(depth, True, frozenset(), transfers)

    def waiting(self, known: Collection[str], asked: Collection[str]) -> Waiting | None:
        return read_waiting(self.nodes, self._addresses, known)

    def spenders(self, block: BlockRead, places: Collection[str]) -> dict[str, str]:
        told: RawBlock = block.told
        return {
            place: transaction.tx_hash
            for transaction in told.transactions
            for spent in transaction.inputs
            if (place := CoinPlace(spent.tx_hash, spent.output).text) in places
        }

    def doubt(self) -> None:
        self.nodes.doubt()

    def close(self) -> None:
        self.nodes.close()

    def block_with_hash(self, number: int, block_hash: str) -> BlockRead:
        return self._block(number, block_hash, self.nodes.call("getblock", [block_hash, 0]))

    def addresses_of(self, outputs: Sequence[Output]) -> "Counter[tuple[str, int]]":
        """How many of these pay an address so much."""
        return Counter(
            (self._addresses.of_script(each.script), each.amount_atomic) for each in outputs
        )

    def _hashes(self, numbers: Sequence[int]) -> list[str]:
        hashes = self.nodes.batch([("getblockhash", [number]) for number in numbers])
        if not all(isinstance(each, str) for each in hashes):
            raise Inconsistent("a node has a block without a hash")
        return hashes

    def _headers(self, numbers: Sequence[int], hashes: Sequence[str]) -> list[BlockHeader]:
        calls: list[Call] = [("getblockheader", [each, False]) for each in hashes]
        headers = []
        for number, block_hash, answer in zip(
            numbers, hashes, self.nodes.batch(calls), strict=True
        ):
            try:
                read = read_header(_bytes(answer))
            except ValueError as error:
                raise Inconsistent(f"block {number}: {error}") from None
            headers.append(_header(number, block_hash, read))
        return headers

    def _block(self, number: int, block_hash: str, answer: Any) -> BlockRead:
        try:
            told = read_block(_bytes(answer))
        except ValueError as error:
            raise Inconsistent(f"block {number}: {error}") from None
        header = _header(number, block_hash, told.header)
        transfers = [
            transfer
            for place, transaction in enumerate(told.transactions)
            for transfer in self._transfers(transaction, is_first=place == 0)
        ]
        return BlockRead(header, transfers, told)

    def _transfers(self, transaction: RawTransaction, *, is_first: bool) -> list[Transfer]:
        after = 1
        if transaction.is_private:
            after = PRIVATE_DEPTH
        elif is_first:
            after = COINBASE_DEPTH
        return outputs_of(transaction, self._addresses, after)

    def _block_with(self, tx_hash: str) -> str:
        """The hash of the block that has it; empty while none does. A node also knows those of
        blocks that were replaced: they have no confirmations."""
        for answer in self.nodes.anyone([("getrawtransaction", [tx_hash, True])]):
            if isinstance(answer, dict) and int(answer.get("confirmations") or 0) > 0:
                return str(answer["blockhash"])
        return ""

    def _depth_of(self, block_hash: str) -> tuple[BlockHeader, int]:
        told, head = self.nodes.batch(
            [("getblockheader", [block_hash, True]), ("getblockchaininfo", [])]
        )
        if int(told["confirmations"]) < 1:
            raise OtherBlock("the block was replaced")
        [header] = self._headers([int(told["height"])], [block_hash])
        return header, confirmations(header.number, int(head["blocks"]))


def outputs_of(
    transaction: RawTransaction, addresses: BitcoinAddresses, usable_after: int = 1
) -> list[Transfer]:
    """One transfer for each output that has an address and pays it anything."""
    return [
        Transfer("", transaction.tx_hash, number, "", address, output.amount_atomic, usable_after)
        for number, output in enumerate(transaction.outputs)
        if output.amount_atomic and (address := addresses.of_script(output.script))
    ]


def _header(number: int, block_hash: str, read: RawHeader) -> BlockHeader:
    if read.hash != block_hash:
        raise Inconsistent(f"block {number} isn't what its hash stands for")
    mined_at = datetime.fromtimestamp(read.mined_at_seconds, UTC)
    return BlockHeader(number, read.hash, read.parent_hash, mined_at)


def _bytes(answer: Any) -> bytes:
    if not isinstance(answer, str):
        raise ValueError("no bytes")
    return bytes.fromhex(answer)
