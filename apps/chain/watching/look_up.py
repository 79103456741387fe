"""One named transaction as nodes know it: existence, finality, and its transfers to given
addresses.

It books nothing: what the watcher has missed is left to the watcher, which gets the place to look
(`watch_again`, and `again.ask` for the block).
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings

from apps.assets.models import Chain, NetworkFamily
from apps.chain.models import Address
from apps.chain.networks.base import Inconsistent
from apps.chain.networks.evm.block_headers import TRANSFER_TOPIC
from apps.chain.networks.readers import reader_of
from apps.chain.nodes import nodes_of
from apps.chain.providers.base import Nodes, RpcError
from apps.core.clock import real_now

# Somebody waits for the answer.
PATIENCE_SECONDS = 3.0
TOTAL_SECONDS = 9.0
CHAINS_MAX = 6
WATCHED_AGAIN_FOR = timedelta(days=1)


@dataclass(frozen=True)
class ReachedAddress:
    """Coins that came to an address of ours; `contract` is empty for the chain's own coin."""

    address: str
    contract: str


@dataclass(frozen=True)
class FoundTransaction:
    """A transaction on a chain. Without a block it isn't final at all. One with
    `has_reached_contract` sent coins to a token's own contract."""

    chain: Chain
    block_number: int | None
    has_failed: bool = False
    reached: tuple[ReachedAddress, ...] = ()
    has_reached_contract: bool = False


@dataclass(frozen=True)
class Search:
    """`searched_chains` are the chains that could be asked, each with an answer."""

    match: FoundTransaction | None
    searched_chains: tuple[Chain, ...]


def search(
    chains: Iterable[Chain],
    tx_hash: str,
    addresses: Collection[str] | None,
    native_addresses: Mapping[str, str],
    contracts: Collection[str] = frozenset(),
) -> Search:
    """Ask one chain after the other, as long as somebody may be kept waiting. Not inside a
    transaction.

    Without `addresses` everybody whom it reached is named. `native_addresses` are those that take a
    chain's own coin, by chain; `contracts` are tokens'.
    """
    deadline = time.monotonic() + TOTAL_SECONDS
    searched_chains: list[Chain] = []
    for chain in list(chains)[:CHAINS_MAX]:
        if not can_ask(chain):
            continue
        if time.monotonic() > deadline:
            break
        try:
            with closing(nodes_of(chain, patience_seconds=PATIENCE_SECONDS)) as nodes:
                match = _look(
                    nodes,
                    chain,
                    tx_hash,
                    None if addresses is None else frozenset(addresses),
                    native_addresses.get(chain.pk),
                    frozenset(contracts),
                )
        except RpcError:
            continue
        searched_chains.append(chain)
        if match is not None:
            return Search(match, tuple(searched_chains))
    return Search(None, tuple(searched_chains))


def can_ask(chain: Chain) -> bool:
    return bool(settings.CHAIN_URLS.get(chain.pk))


def watch_again(address: str) -> None:
    """From now on the watcher compares what the address holds with what is booked of it, for a
    day."""
    until = real_now() + WATCHED_AGAIN_FOR
    Address.objects.filter(pk=address, native_chain__isnull=False).update(watch_balance_until=until)


def _look(
    nodes: Nodes,
    chain: Chain,
    tx_hash: str,
    addresses: frozenset[str] | None,
    native: str | None,
    contracts: frozenset[str],
) -> FoundTransaction | None:
    if chain.family != NetworkFamily.EVM:
        return _read(nodes, chain, tx_hash, addresses)
    transaction, receipt = nodes.batch(
        [("eth_getTransactionByHash", [tx_hash]), ("eth_getTransactionReceipt", [tx_hash])]
    )
    if not isinstance(transaction, dict):
        return None
    if not isinstance(receipt, dict):
        return FoundTransaction(chain, None)
    try:
        number = int(receipt["blockNumber"], 16)
        if int(receipt["status"], 16) != 1:
            return FoundTransaction(chain, number, has_failed=True)
        reached = tuple(_reached(transaction, receipt, addresses))
        is_lost = bool(tuple(_reached(transaction, receipt, contracts)))
        has_called = not reached and str(transaction.get("input") or "0x") != "0x"
    except (TypeError, KeyError, ValueError, AttributeError):
        raise Inconsistent("a node's answer isn't a transaction") from None
    if has_called and native is not None and _has_grown(nodes, native, number):
        reached = (ReachedAddress(native, ""),)
    return FoundTransaction(chain, number, reached=reached, has_reached_contract=is_lost)


def _read(
    nodes: Nodes, chain: Chain, tx_hash: str, addresses: frozenset[str] | None
) -> FoundTransaction | None:
    """Of a network whose blocks tell all: its reader says what the transaction paid."""
    reader = reader_of(chain, nodes)
    read = reader.transaction(tx_hash, (), 1)
    if read is None:
        waiting = reader.waiting((), ())
        return FoundTransaction(chain, None) if waiting and tx_hash in waiting.hashes else None
    number = reader.latest(0).number - read.confirmations + 1
    reached = tuple(
        ReachedAddress(transfer.to_address, "")
        for transfer in read.transfers
        if addresses is None or transfer.to_address in addresses
    )
    return FoundTransaction(chain, number, reached=reached)


def _reached(
    transaction: Mapping[str, Any], receipt: Mapping[str, Any], addresses: frozenset[str] | None
) -> Iterator[ReachedAddress]:
    to = str(transaction.get("to") or "").lower()
    if to and (addresses is None or to in addresses) and int(transaction["value"], 16) > 0:
        yield ReachedAddress(to, "")
    for entry in receipt["logs"]:
        topics = entry["topics"]
        if len(topics) == 3 and topics[0].lower() == TRANSFER_TOPIC:
            holder = "0x" + topics[2][-40:].lower()
            if addresses is None or holder in addresses:
                yield ReachedAddress(holder, entry["address"].lower())


def _has_grown(nodes: Nodes, address: str, number: int) -> bool:
    """True if an address held more after a block than before; a node without older balances can't
    tell."""
    try:
        before, after = nodes.batch(
            [("eth_getBalance", [address, hex(max(0, at))]) for at in (number - 1, number)]
        )
        return int(after, 16) > int(before, 16)
    except RpcError as error:
        if not error.is_refusal:
            raise
        return False
