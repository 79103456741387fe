"""Holdings of addresses as of a block: a node counts those of now, and the blocks since then say
what has come and gone."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from apps.chain.networks.base import BlockRead, CoinPlace, Inconsistent
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.mempool import atomic
from apps.chain.networks.bitcoin.reader import BitcoinReader
from apps.chain.networks.bitcoin.transactions import read_transaction

TRIES = 5
BLOCKS_MAX = 1000
_BLOCKS_AT_ONCE = 10


def held_at(
    reader: BitcoinReader,
    addresses: BitcoinAddresses,
    holders: Sequence[str],
    number: int,
    places: Collection[str],
) -> dict[str, int]:
    """By address. `places` (CoinPlace.text) are coins of theirs that may have been spent since
    then: what they had the node says. Raises RpcError, and Inconsistent while blocks come."""
    for _ in range(TRIES):
        told = reader.nodes.call("scantxoutset", ["start", [f"addr({each})" for each in holders]])
        top = int(told["height"])
        if not 0 <= top - number <= BLOCKS_MAX:
            raise Inconsistent(f"a node is at block {top}")
        blocks = _since(reader, number, top)
        if blocks and blocks[-1].header.hash != told["bestblock"]:
            continue  # others came while coins were counted
        held = _counted(told, addresses, number)
        later = {each.tx_hash for block in blocks for each in block.told.transactions}
        taken = [place for block in blocks for place in _taken(block, places)]
        before = [place for place in taken if place.tx_hash not in later]
        held.update(_brought(reader, addresses, before))
        return {holder: held[holder] for holder in holders}
    raise Inconsistent("blocks came while coins were counted")


def _since(reader: BitcoinReader, number: int, top: int) -> list[BlockRead]:
    blocks: list[BlockRead] = []
    for start in range(number + 1, top + 1, _BLOCKS_AT_ONCE):
        blocks += reader.blocks(range(start, min(top, start + _BLOCKS_AT_ONCE - 1) + 1), ())
    return blocks


def _counted(told: Any, addresses: BitcoinAddresses, number: int) -> "Counter[str]":
    held: Counter[str] = Counter()
    for each in told["unspents"]:
        if int(each["height"]) <= number:
            script = bytes.fromhex(each["scriptPubKey"])
            held[addresses.of_script(script)] += atomic(each["amount"])
    return held


def _taken(block: BlockRead, places: Collection[str]) -> list[CoinPlace]:
    found = (
        CoinPlace(each.tx_hash, each.output)
        for transaction in block.told.transactions
        for each in transaction.inputs
    )
    return [place for place in found if place.text in places]


def _brought(
    reader: BitcoinReader, addresses: BitcoinAddresses, places: Sequence[CoinPlace]
) -> "Counter[str]":
    """Amounts of spent coins, by the bytes of their transactions."""
    brought: Counter[str] = Counter()
    if not places:
        return brought
    answers = reader.nodes.batch([("getrawtransaction", [place.tx_hash]) for place in places])
    for place, answer in zip(places, answers, strict=True):
        try:
            read = read_transaction(bytes.fromhex(answer))
            output = read.outputs[place.output]
        except (TypeError, ValueError, IndexError):
            raise Inconsistent(f"a node doesn't have {place.text}") from None
        if read.tx_hash != place.tx_hash:
            raise Inconsistent(f"a node has another transaction for {place.tx_hash}")
        brought[addresses.of_script(output.script)] += output.amount_atomic
    return brought
