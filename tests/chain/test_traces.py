"""A transaction that a node can't trace costs only itself: what it moved is found as coins of its
block, and everything else as if nothing had happened."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from apps.chain.models import Deposit
from apps.chain.watching import traces
from apps.core import clock
from tests.chain.conftest import Reader, make_address
from tests.chain.local import FORWARDER, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import CONTRACT

pytestmark = pytest.mark.chain

STRANGE = "0x" + "ab" * 32
NOBODY = "0x" + "0" * 40


def watched() -> str:
    return make_address(
        native_chain="sepolia", watch_balance_until=clock.real_now() + timedelta(days=1)
    )


def count(name: str) -> float:
    return REGISTRY.get_sample_value(f"{name}_total", {"chain": "sepolia"}) or 0


def given_up(result: list[Any]) -> list[Any]:
    """Geth's, of a transaction that took too long."""
    return [{"txHash": item["txHash"], "error": "execution timeout"} for item in result]


# What a node answers instead of the traces of a block.
SHAPES: dict[str, Callable[[Any], Any]] = {
    "an error in a trace's place": given_up,
    "a null trace": lambda result: [None for _ in result],
    "a null result": lambda result: [{**item, "result": None} for item in result],
    "a trace of another transaction": lambda result: [
        {**item, "txHash": STRANGE} for item in result
    ],
    "one trace less": lambda result: result[:-1],
    "no trace": lambda result: [],
    "null": lambda result: None,
    "a text": lambda result: "busy",
    "no frame": lambda result: [{**item, "result": {}} for item in result],
    "a frame without its sender": lambda result: [
        json.loads(json.dumps(item).replace('"from"', '"who"')) for item in result
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_trace_that_is_none_is_asked_for_alone(
    chain: LocalChain, proxy: Proxy, watcher: Reader, db: None, shape: str
) -> None:
    address = watched()
    chain.put(FORWARDER, CONTRACT)
    proxy.lie("debug_traceBlockByHash", SHAPES[shape])
    tx_hash = chain.through(CONTRACT, 10**15, address)
    chain.mine(12)
    watcher.read()
    deposit = Deposit.objects.get()
    assert (deposit.tx_hash, deposit.from_address, deposit.amount_atomic) == (
        tx_hash,
        CONTRACT,
        10**15,
    )


@pytest.mark.parametrize("shape", ["an error in a trace's place", "null", "a text"])
@pytest.mark.parametrize("alone", ["null", "refused", "no frame"])
def test_one_that_no_node_traces_stops_nobody_else(
    chain: LocalChain, proxy: Proxy, watcher: Reader, db: None, shape: str, alone: str
) -> None:
    addresses = [watched() for _ in range(3)]
    chain.put(FORWARDER, CONTRACT)
    bad = chain.through(CONTRACT, 10**15, addresses[0])
    block = chain.call("eth_getTransactionReceipt", bad)["blockHash"]
    proxy.changes.append(
        lambda method, parameters, result: (
            SHAPES[shape](result)
            if method == "debug_traceBlockByHash" and parameters[0] == block
            else result
        )
    )
    if alone == "refused":
        proxy.unknown.add("debug_traceTransaction")
    else:
        proxy.lie("debug_traceTransaction", lambda _: None if alone == "null" else {})
    good = [chain.through(CONTRACT, 7 + place, each) for place, each in enumerate(addresses)]
    failed = count("tillgate_chain_traces_failed")
    chain.mine(12)
    watcher.read()
    chain.mine(12)
    watcher.read()
    rows = {
        (row.tx_hash, row.address_id): (row.amount_atomic, row.from_address)
        for row in Deposit.objects.all()
    }
    assert rows == {
        (block, addresses[0]): (10**15, NOBODY),
        **{
            (tx_hash, each): (7 + place, CONTRACT)
            for place, (tx_hash, each) in enumerate(zip(good, addresses, strict=True))
        },
    }
    assert count("tillgate_chain_traces_failed") == failed + 1


def test_traces_in_another_order_belong_to_the_transactions_that_they_name(
    chain: LocalChain, proxy: Proxy, watcher: Reader, db: None
) -> None:
    addresses = [watched() for _ in range(3)]
    chain.put(FORWARDER, CONTRACT)
    chain.call("evm_setAutomine", False)
    sent = {}
    for place, each in enumerate(addresses):
        data = "0x" + each[2:].rjust(64, "0")
        sent[chain.send(CONTRACT, 100 + place, data, sender=place)] = (each, 100 + place)
    chain.mine()
    chain.call("evm_setAutomine", True)
    proxy.lie("debug_traceBlockByHash", lambda result: result[::-1])
    chain.mine(12)
    watcher.read()
    rows = Deposit.objects.values_list("tx_hash", "address_id", "amount_atomic")
    assert {tx_hash: (each, amount) for tx_hash, each, amount in rows} == sent


def test_a_transaction_of_the_block_that_has_no_trace_leaves_the_others_theirs(
    chain: LocalChain, proxy: Proxy, watcher: Reader, db: None
) -> None:
    """As on Polygon: the block lists the hash of what the network itself did."""
    address = watched()
    chain.put(FORWARDER, CONTRACT)
    proxy.lie(
        "eth_getBlockByHash",
        lambda block: {
            **block,
            "transactions": [*block["transactions"], {"hash": STRANGE, "gas": "0x0"}],
        },
    )
    failed = count("tillgate_chain_traces_failed")
    tx_hash = chain.through(CONTRACT, 10**15, address)
    chain.mine(12)
    watcher.read()
    assert Deposit.objects.get().tx_hash == tx_hash
    assert count("tillgate_chain_traces_failed") == failed


def test_what_was_found_as_coins_of_a_block_is_not_found_again_once_it_can_be_traced(
    chain: LocalChain, proxy: Proxy, watcher: Reader, db: None
) -> None:
    address = watched()
    chain.put(FORWARDER, CONTRACT)
    proxy.lie("debug_traceBlockByHash", given_up)
    proxy.lie("debug_traceTransaction", lambda _: None)
    chain.through(CONTRACT, 10**15, address)
    chain.mine(12)
    watcher.read()
    proxy.changes.clear()
    chain.through(CONTRACT, 5, address)
    for _ in range(3):
        chain.mine(10)
        watcher.read()
        watcher.restart()
    amounts = Deposit.objects.order_by("block_number").values_list("amount_atomic", flat=True)
    assert list(amounts) == [10**15, 5]


@pytest.mark.parametrize("how", ["hangs", "fails"])
def test_a_node_that_fails_at_traces_tells_the_rest_without_them(
    chain: LocalChain,
    proxy: Proxy,
    watcher: Reader,
    db: None,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = watched()
    chain.put(FORWARDER, CONTRACT)
    chain.through(CONTRACT, 10**15, address)
    chain.mine(12)
    methods = ("debug_traceBlockByHash", "debug_traceTransaction")
    if how == "hangs":
        proxy.hangs_up_at = set(methods)
    else:
        answer = (-32000, "execution aborted (timeout = 5s)")
        proxy.refused_with = dict.fromkeys(methods, answer)
    watcher.read()
    deposit = Deposit.objects.get()
    assert (deposit.tx_hash, deposit.amount_atomic) == (deposit.block_hash, 10**15)


def test_an_address_whose_balance_makes_no_sense_keeps_no_other_from_being_told(
    chain: LocalChain, proxy: Proxy, watcher: Reader, db: None
) -> None:
    addresses = [watched() for _ in range(3)]
    chain.put(FORWARDER, CONTRACT)
    for place, each in enumerate(addresses):
        chain.through(CONTRACT, 7 + place, each)
    chain.mine(12)
    asked: list[str] = []

    def lie(method: str, parameters: list[Any], result: Any) -> Any:
        """After the first look at it, this balance is nonsense."""
        if method != "eth_getBalance" or parameters[0] != addresses[1]:
            return result
        asked.append(method)
        return result if len(asked) == 1 else "many"

    proxy.changes.append(lie)
    unread = count("tillgate_chain_balances_unread")
    watcher.read()
    found = set(Deposit.objects.values_list("address_id", flat=True))
    assert found == {addresses[0], addresses[2]}
    assert count("tillgate_chain_balances_unread") == unread + 1
    proxy.changes.clear()
    chain.mine(10)
    watcher.read()
    assert Deposit.objects.get(address_id=addresses[1]).amount_atomic == 8


def test_a_trace_as_deep_as_calls_may_be_is_read() -> None:
    """Deeper than Python lets functions call each other."""
    frame: traces.Frame = {"type": "CALL", "from": "0xa", "to": "0xB", "value": "0x1"}
    for _ in range(5_000):
        frame = {"type": "CALL", "from": "0xa", "to": "0xc", "value": "0x0", "calls": [frame]}
    assert len(list(traces.value_frames(frame))) == 1
