"""Transactions that a node announces before a block has them: what they would move, as far as their
own bytes say. They may yet fail, and another one of the same number may take their place."""

from collections.abc import Collection, Iterable
from typing import Any

from apps.chain.networks.base import NATIVE_LOG_INDEX, Inconsistent, Sighting, Transfer
from apps.chain.networks.evm.block_headers import integer
from apps.chain.providers.base import Nodes

_MALFORMED = (TypeError, KeyError, ValueError, AttributeError)
_TRANSFER = "0xa9059cbb"
# Calls of a token that name sender, receiver and amount in their first words.
_FROM_OTHERS = (
    "0x23b872dd",  # transferFrom
    "0xe3ee160e",  # transferWithAuthorization
    "0xcf092995",  # transferWithAuthorization, of a contract's signature
)
_SELECTOR = 10
_WORD = 64
# The place of a token's transfer in its block isn't known yet.
_TOKEN_PLACE = 0


def sightings(told: Iterable[Any]) -> list[Sighting]:
    """Of transactions as a node announces them; what isn't one is left out."""
    found = []
    for each in told:
        try:
            tx_hash = each["hash"].lower()
            found.append(Sighting(tx_hash, _transfers(tx_hash, each), (_place(each),)))
        except _MALFORMED:
            continue
    return found


def takers(block: Any, places: Collection[str]) -> dict[str, str]:
    """Of these numbers of senders those that a block's transactions have, and which."""
    try:
        placed = ((_place(each), each["hash"].lower()) for each in block["transactions"])
        return {place: tx_hash for place, tx_hash in placed if place in places}
    except _MALFORMED:
        raise Inconsistent("a block has a transaction that isn't one") from None


def still_waiting(nodes: Nodes, tx_hashes: Collection[str]) -> frozenset[str]:
    """Those of the transactions that a node has outside of blocks."""
    asked = sorted(tx_hashes)
    answers = nodes.anyone([("eth_getTransactionByHash", [tx_hash]) for tx_hash in asked])
    return frozenset(
        tx_hash
        for tx_hash, told in zip(asked, answers, strict=True)
        if isinstance(told, dict) and told.get("blockHash") is None
    )


def _place(told: Any) -> str:
    """The number of its sender that a transaction takes, of which there is one."""
    return f"{told['from'].lower()}:{integer(told['nonce'])}"


def _transfers(tx_hash: str, told: Any) -> tuple[Transfer, ...]:
    receiver = told["to"]
    if receiver is None:
        return ()
    sender = told["from"].lower()
    if (amount := integer(told["value"])) > 0:
        native = Transfer("", tx_hash, NATIVE_LOG_INDEX, sender, receiver.lower(), amount)
        return (native,)
    called = told["input"].lower()
    words = [
        called[start : start + _WORD] for start in range(_SELECTOR, _SELECTOR + 3 * _WORD, _WORD)
    ]
    if called.startswith(_TRANSFER):
        words = [sender[2:].rjust(_WORD, "0"), *words[:2]]
    elif not called.startswith(_FROM_OTHERS):
        return ()
    if any(len(word) != _WORD for word in words) or any(int(word[:24], 16) for word in words[:2]):
        return ()
    payer, payee = (f"0x{word[24:]}" for word in words[:2])
    amount = int(words[2], 16)
    token = receiver.lower()
    return (Transfer(token, tx_hash, _TOKEN_PLACE, payer, payee, amount),) if amount else ()
