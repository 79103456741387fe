"""Brings bytes to a network of Bitcoin's family, and sees what became of them.

A node that doesn't know a transaction says nothing about whether it was sent: only a block that has
it, or another transaction that took its first coin, ends it.
"""

from collections.abc import Collection, Sequence
from typing import Any

from apps.assets.models import Chain
from apps.chain.networks.base import (
    Coin,
    CoinPlace,
    Inconsistent,
    MinedTransaction,
    Rates,
    SpendStatus,
)
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.holdings import held_at
from apps.chain.networks.bitcoin.mempool import atomic
from apps.chain.networks.bitcoin.parameters import parameters_of
from apps.chain.networks.bitcoin.reader import BitcoinReader
from apps.chain.networks.bitcoin.transactions import read_transaction
from apps.chain.providers.base import Call, Nodes, RpcError

_ALREADY_MINED = -27
_REASON_MAX = 200
# The node's own limit is left out: the plan's ceiling was looked at before the bytes were signed.
_NO_LIMIT = 0


class BitcoinCarrier:
    def __init__(self, chain: Chain, nodes: Nodes) -> None:
        self._nodes = nodes
        self._parameters = parameters_of(chain.chain_id)
        self._addresses = BitcoinAddresses(self._parameters)
        self._reader = BitcoinReader(chain, nodes)

    def rates(self) -> Rates:
        """A node that has seen too few payments has no estimate: then the network's usual rate."""
        own = self._parameters
        estimate, told = self._nodes.batch(
            [("estimatesmartfee", [own.target_blocks]), ("getmempoolinfo", [])]
        )
        floor = max(atomic(told["mempoolminfee"]), atomic(told["minrelaytxfee"]))
        known = estimate.get("feerate")
        now = atomic(known) if known else own.usual_rate
        return Rates(max(now, floor), floor, own.rate_ceiling)

    def send(self, raw: str) -> str:
        [answer] = self._nodes.each([("sendrawtransaction", [raw, _NO_LIMIT])])
        if not isinstance(answer, RpcError):
            return ""
        if _code_of(answer) == _ALREADY_MINED or self._is_known(raw):
            return ""
        return str(answer)[:_REASON_MAX]

    def look(self, tx_hashes: Sequence[str], first: CoinPlace) -> SpendStatus:
        transactions = self._nodes.each([("getrawtransaction", [each, True]) for each in tx_hashes])
        for tx_hash, told in zip(tx_hashes, transactions, strict=True):
            if _confirmations(told) > 0:
                block_hash = str(told["blockhash"])
                header = self._nodes.call("getblockheader", [block_hash, True])
                return SpendStatus(tx_hash, int(header["height"]), block_hash)
        entries = self._nodes.each([("getmempoolentry", [each]) for each in tx_hashes])
        if any(not isinstance(entry, RpcError) for entry in entries):
            return SpendStatus(is_waiting=True)
        return self._taken(first)

    def found(self, tx_hash: str) -> MinedTransaction | None:
        [told] = self._nodes.anyone([("getrawtransaction", [tx_hash, True])])
        if _confirmations(told) <= 0:
            return None
        raw, block_hash = str(told["hex"]), str(told["blockhash"])
        try:
            read = read_transaction(bytes.fromhex(raw))
        except ValueError as error:
            raise Inconsistent(f"a transaction can't be read: {error}") from None
        if read.tx_hash != tx_hash:
            raise Inconsistent("a transaction of another hash")
        header = self._nodes.call("getblockheader", [block_hash, True])
        return MinedTransaction(
            SpendStatus(tx_hash, int(header["height"]), block_hash),
            raw,
            tuple(CoinPlace(each.tx_hash, each.output) for each in read.inputs),
            tuple(
                (self._addresses.of_script(each.script), each.amount_atomic)
                for each in read.outputs
            ),
            read.size,
        )

    def sources(self, found: MinedTransaction) -> tuple[tuple[str, int], ...]:
        hashes = list(dict.fromkeys(place.tx_hash for place in found.places))
        raws = self._nodes.batch([("getrawtransaction", [each]) for each in hashes])
        outputs = {}
        for tx_hash, raw in zip(hashes, raws, strict=True):
            try:
                read = read_transaction(bytes.fromhex(raw))
            except (ValueError, TypeError) as error:
                raise Inconsistent(f"a transaction can't be read: {error}") from None
            if read.tx_hash != tx_hash:
                raise Inconsistent("a transaction of another hash")
            outputs[tx_hash] = read.outputs
        taken = [outputs[place.tx_hash][place.output] for place in found.places]
        return tuple((self._addresses.of_script(each.script), each.amount_atomic) for each in taken)

    def unspent(self, places: Sequence[CoinPlace]) -> list[Coin | None]:
        answers = self._nodes.batch(
            [("gettxout", [place.tx_hash, place.output, True]) for place in places]
        )
        return [
            self._coin(place, answer) if answer else None
            for place, answer in zip(places, answers, strict=True)
        ]

    def held(
        self, addresses: Sequence[str], number: int, places: Collection[str]
    ) -> dict[str, int]:
        """By a search through all coins, which takes a node of a large network minutes."""
        if not addresses:
            return {}
        return held_at(self._reader, self._addresses, addresses, number, places)

    def close(self) -> None:
        self._nodes.close()

    def _is_known(self, raw: str) -> bool:
        """Tells whether it waits, or a block has it whose outputs were spent since."""
        try:
            tx_hash = read_transaction(bytes.fromhex(raw)).tx_hash
        except ValueError:
            return False
        entry, told = self._nodes.each(
            [("getmempoolentry", [tx_hash]), ("getrawtransaction", [tx_hash, True])]
        )
        return not isinstance(entry, RpcError) or _confirmations(told) > 0

    def _taken(self, first: CoinPlace) -> SpendStatus:
        """Of a coin that none of our candidates spends."""
        calls: list[Call] = [
            ("gettxout", [first.tx_hash, first.output, True]),
            ("getrawtransaction", [first.tx_hash, True]),
            ("gettxspendingprevout", [[{"txid": first.tx_hash, "vout": first.output}]]),
        ]
        coin, parent, spending = self._nodes.each(calls)
        if coin and not isinstance(coin, RpcError):
            return SpendStatus()
        if isinstance(spending, list) and spending and spending[0].get("spendingtxid"):
            return SpendStatus(is_taken=True, taken_by=str(spending[0]["spendingtxid"]))
        # A coin whose own transaction nobody has isn't taken: it isn't there.
        return SpendStatus(is_taken=not isinstance(parent, RpcError) and _is_there(parent))

    def _coin(self, place: CoinPlace, told: Any) -> Coin:
        address = self._addresses.of_script(bytes.fromhex(told["scriptPubKey"]["hex"]))
        is_confirmed = int(told["confirmations"]) > 0
        return Coin(place, address, atomic(told["value"]), is_confirmed)


def _confirmations(told: Any) -> int:
    return int(told.get("confirmations") or 0) if isinstance(told, dict) else 0


def _is_there(told: Any) -> bool:
    """Tells whether it waits or a block has it: a node also knows those of blocks that were
    replaced."""
    return isinstance(told, dict) and ("blockhash" not in told or _confirmations(told) > 0)


def _code_of(error: RpcError) -> int | None:
    answer = getattr(error, "answer", None)
    return answer.get("code") if isinstance(answer, dict) else None
