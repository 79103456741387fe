"""Transactions that wait to be mined, as a node of ours has them: shown as seen, never counted.

So many transactions are read at once; the others of a crowded network are new the next time.
"""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

from apps.chain.networks.base import CoinPlace, Inconsistent, Sighting, Transfer, Waiting
from apps.chain.networks.bitcoin.addresses import BitcoinAddresses
from apps.chain.networks.bitcoin.transactions import RawTransaction, read_transaction
from apps.chain.providers.base import Call, Nodes, RpcError

NEW_MAX = 1000
_DIGITS = 8
_PRIVATE_DEPTH = 6


def read_waiting(nodes: Nodes, addresses: BitcoinAddresses, known: Collection[str]) -> Waiting:
    """`hashes` are the known ones that still wait, and those that are new here."""
    told = nodes.call("getrawmempool", [])
    if not isinstance(told, list) or not all(isinstance(each, str) for each in told):
        raise Inconsistent("a node doesn't say what waits")
    held = frozenset(known)
    hashes = [each for each in told if each not in held][:NEW_MAX]
    calls: list[Call] = []
    for each in hashes:
        calls += [("getrawtransaction", [each]), ("getmempoolentry", [each])]
    answers = nodes.each(calls)
    new = []
    for place, tx_hash in enumerate(hashes):
        raw, entry = answers[2 * place : 2 * place + 2]
        # Since it was listed, it may have been mined or replaced.
        if not isinstance(raw, RpcError) and not isinstance(entry, RpcError):
            new.append(_sighting(tx_hash, raw, entry, addresses))
    still = held.intersection(told)
    return Waiting(still | {each.tx_hash for each in new}, tuple(new))


def atomic(value: Any) -> int:
    """Of an amount in coins, as a node writes it: the shortest decimal of such a number is the
    exact one."""
    return int(Decimal(str(value)).scaleb(_DIGITS))


def _sighting(tx_hash: str, raw: Any, entry: Any, addresses: BitcoinAddresses) -> Sighting:
    try:
        read = read_transaction(bytes.fromhex(raw))
        paid = _out_of_private(tx_hash, entry.get("mweb") or {}, addresses)
        # One that has only a private part goes by its kernel's id, which its bytes don't say.
        is_hidden = read.has_body and not read.inputs
        if not is_hidden and read.tx_hash != tx_hash:
            raise ValueError("a transaction of another hash")
        spends = tuple(CoinPlace(each.tx_hash, each.output).text for each in read.inputs)
        transfers = (*_visible(read, addresses), *paid)
        return Sighting(
            tx_hash,
            transfers,
            spends,
            bool(paid),
            bool(entry.get("bip125-replaceable")),
            atomic(entry["fees"]["base"]),
            int(entry["vsize"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise Inconsistent(f"a transaction that waits can't be read: {error}") from None


def _visible(read: RawTransaction, addresses: BitcoinAddresses) -> Sequence[Transfer]:
    return [
        Transfer("", read.tx_hash, number, "", address, output.amount_atomic)
        for number, output in enumerate(read.outputs)
        if output.amount_atomic and (address := addresses.of_script(output.script))
    ]


def _out_of_private(
    tx_hash: str, told: Mapping[str, Any], addresses: BitcoinAddresses
) -> list[Transfer]:
    """The payments of its kernel, numbered in the kernel's order."""
    transfers = []
    for number, paid in enumerate(told.get("pegouts") or []):
        amount_atomic = int(paid["amount"])
        address = addresses.of_script(bytes.fromhex(paid["scriptpubkey"]))
        if address and amount_atomic > 0:
            transfers.append(
                Transfer("", tx_hash, number, "", address, amount_atomic, _PRIVATE_DEPTH)
            )
    return transfers
