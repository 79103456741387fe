"""Nodes that contradict themselves or each other are not believed: the watcher asks again, or asks
another."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.chain.models import Deposit
from apps.chain.networks.base import Inconsistent
from apps.chain.selectors import is_caught_up
from apps.core import clock
from tests.chain.conftest import Reader, make_address
from tests.chain.local import LOGGER, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import USDC, blocks_are_linked

pytestmark = pytest.mark.chain


def test_a_log_told_twice_is_one_deposit(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    proxy.lie("eth_getLogs", lambda logs: logs + logs)
    chain.log_transfers(USDC, (address, 5))
    watcher.read()
    assert [deposit.amount_atomic for deposit in Deposit.objects.all()] == [5]


LIES: list[tuple[str, Callable[[Any], Any]]] = [
    ("eth_getLogs", lambda logs: [{**log, "blockHash": "0x" + "1" * 64} for log in logs]),
    ("eth_getLogs", lambda logs: [{**log, "removed": True} for log in logs]),
    ("eth_getLogs", lambda logs: [{**log, "data": "0xzz" + "0" * 62} for log in logs]),
    ("eth_getLogs", lambda logs: None),
    ("eth_getBlockReceipts", lambda receipts: [None]),
    ("eth_getBlockReceipts", lambda receipts: [{**receipts[0], "blockHash": "0x" + "1" * 64}]),
    (
        "eth_getBlockReceipts",
        lambda receipts: [{**receipts[0], "transactionHash": "0x" + "1" * 64}],
    ),
    ("eth_getBlockByNumber", lambda block: {**block, "transactions": ["0x" + "1" * 64]}),
    (
        "eth_getBlockByNumber",
        lambda block: {
            **block,
            "transactions": [{"hash": 5, "from": "0x1", "to": "0x1", "value": "0x5"}],
        },
    ),
]


def test_answers_that_contradict_each_other_are_not_believed(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    watcher.read()
    for place, (method, tell) in enumerate(LIES, 1):
        proxy.lie(method, tell)
        chain.pay(address, 10)
        chain.log_transfers(USDC, (address, 5))
        with pytest.raises(Inconsistent):
            watcher.read()
        proxy.changes.clear()
        watcher.read()
        amounts = sorted(deposit.amount_atomic for deposit in Deposit.objects.all())
        assert amounts == [5] * place + [10] * place, LIES[place - 1]
    blocks_are_linked()


def test_a_node_that_contradicts_itself_gives_way_to_another(
    chain: LocalChain, proxy: Proxy, second: Proxy, watcher: Reader, address: str
) -> None:
    proxy.lie("eth_getBlockByNumber", lambda block: {**block, "transactions": ["0x" + "1" * 64]})
    chain.pay(address, 10)
    with pytest.raises(Inconsistent):
        watcher.read()
    watcher.read()
    assert Deposit.objects.get().amount_atomic == 10


def test_balances_that_can_not_be_read_hold_nothing_up(
    chain: LocalChain, proxy: Proxy, watcher: Reader
) -> None:
    make_address(native_chain="sepolia", watch_balance_until=clock.real_now() + timedelta(days=1))
    proxy.unknown.add("eth_getBalance")
    chain.mine(12)
    deadline = clock.real_now()
    chain.mine_after(deadline)
    watcher.read()
    assert is_caught_up("sepolia", deadline)


def test_a_block_the_node_does_not_have_is_read_later(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    watcher.read()
    chain.pay(address, 10)
    proxy.changes.append(
        lambda method, given, result: (
            None if method == "eth_getBlockByNumber" and given[1] else result
        )
    )
    with pytest.raises(Inconsistent):
        watcher.read()
    proxy.changes.clear()
    watcher.read()
    assert Deposit.objects.get().amount_atomic == 10


def test_two_nodes_on_different_forks_do_not_make_credits_flap(
    chain: LocalChain, proxy: Proxy, watcher: Reader, twin: LocalChain, address: str, settings: Any
) -> None:
    chain.mine(2)
    twin.call("anvil_loadState", chain.call("anvil_dumpState"))
    chain.pay(address, 10)
    chain.mine(4)
    twin.mine(3)
    settings.CHAIN_URLS = {"sepolia": [chain.url, twin.url]}
    seen = set()
    for place in range(4):
        settings.CHAIN_URLS = {
            "sepolia": [chain.url, twin.url] if place % 2 else [twin.url, chain.url]
        }
        watcher.read()
        watcher.restart()
        seen.add(Deposit.objects.get().status if Deposit.objects.exists() else "none")
    assert seen == {"confirmed"}
    blocks_are_linked()
