"""Nodes that lie, lag, fail or belong to another chain: the watcher is late at worst, never
wrong."""

import json
import signal
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from apps.chain.models import Deposit, Head
from apps.chain.providers import jsonrpc
from apps.chain.providers.base import RpcError
from apps.chain.providers.jsonrpc import JsonRpc
from apps.chain.selectors import is_caught_up
from apps.core import clock
from tests.chain.conftest import Reader
from tests.chain.local import SEPOLIA_ID, LocalChain, program
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import blocks_are_linked

pytestmark = pytest.mark.chain


def break_with(proxy: Proxy, how: str) -> None:
    match how:
        case "too many requests":
            proxy.whole = (429, b"slow down")
        case "server error":
            proxy.whole = (500, b"")
        case "a page":
            proxy.whole = (200, b"<html>maintenance</html>")
        case "an error in a 200":
            proxy.whole = (
                200,
                b'{"jsonrpc":"2.0","id":0,"error":{"code":-32005,"message":"limit exceeded"}}',
            )
        case "another shape":
            proxy.whole = (200, b'{"jsonrpc":"2.0","id":0}')
        case "half an answer":
            proxy.cut = True
        case "a redirect":
            proxy.whole = (302, b"")


def mend(proxy: Proxy) -> None:
    proxy.whole = None
    proxy.cut = False


FAILURES = [
    "too many requests",
    "server error",
    "a page",
    "an error in a 200",
    "another shape",
    "half an answer",
    "a redirect",
]


def test_the_next_node_is_used_when_one_fails(
    chain: LocalChain, proxy: Proxy, second: Proxy, watcher: Reader, address: str
) -> None:
    for place, how in enumerate(FAILURES, 1):
        watcher.restart()  # which begins with the first node again
        watcher.read()
        second.calls.clear()
        break_with(proxy, how)
        chain.pay(address, 10)
        chain.mine(2)
        watcher.read()
        assert Deposit.objects.filter(status="confirmed").count() == place, how
        assert second.calls, how
        mend(proxy)
    blocks_are_linked()


@pytest.mark.parametrize(
    "how",
    [
        # The others are told apart by the test above.
        pytest.param(how, marks=() if how == "server error" else pytest.mark.whole)
        for how in FAILURES
    ],
)
def test_without_another_node_the_watcher_waits_and_goes_on_where_it_was(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, how: str
) -> None:
    watcher.read()
    before = Head.objects.get()
    break_with(proxy, how)
    chain.pay(address, 10)
    chain.mine(25)
    deadline = clock.real_now()
    with pytest.raises(RpcError):
        watcher.read()
    assert Head.objects.get().hash == before.hash
    assert not is_caught_up("sepolia", deadline)
    mend(proxy)
    chain.mine_after(deadline)
    watcher.read()
    assert is_caught_up("sepolia", deadline)
    assert Deposit.objects.get().status == "confirmed"


def test_what_was_read_before_a_block_that_no_node_can_tell_is_kept(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    watcher.read()
    chain.mine(3)
    before = chain.height
    chain.pay(address, 10)
    for method in ("eth_getBlockReceipts", "eth_getTransactionReceipt"):
        proxy.lie(method, lambda _: None)
    with pytest.raises(RpcError):
        watcher.read()
    assert Head.objects.get().number == before and not Deposit.objects.exists()
    proxy.changes.clear()
    watcher.read()
    assert Head.objects.get().number == chain.height and Deposit.objects.exists()


def test_a_slow_node_is_given_up(
    chain: LocalChain, proxy: Proxy, second: Proxy, watcher: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonrpc, "READ_SECONDS", 0.2)
    proxy.delay_seconds = 60.0
    began = time.monotonic()
    watcher.read()
    assert Head.objects.get().number == chain.height
    assert time.monotonic() - began < 50


def test_an_answer_that_is_too_large_is_not_read(
    chain: LocalChain, proxy: Proxy, watcher: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonrpc, "ANSWER_BYTES_MAX", 100_000)
    proxy.whole = (200, b" " * 200_000)
    with pytest.raises(RpcError, match="too large"):
        watcher.read()


def test_a_node_of_another_chain_is_refused(
    chain: LocalChain, proxy: Proxy, watcher: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    proxy.lie("eth_chainId", lambda _: "0x1")
    with pytest.raises(RpcError, match="refused"):
        watcher.read()
    assert not Head.objects.exists()
    assert "node_refused" in caplog.text


def test_a_node_that_changes_to_another_chain_is_refused(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    watcher.read()
    before = Head.objects.get().number
    chain.call("anvil_setChainId", 1)
    chain.mine(3)
    with pytest.raises(RpcError, match="refused"):
        watcher.read()
    assert Head.objects.get().number == before


def test_a_refused_node_is_passed_over_for_a_right_one(
    chain: LocalChain, proxy: Proxy, second: Proxy, watcher: Reader
) -> None:
    proxy.lie("eth_chainId", lambda _: "0x1")
    watcher.read()
    assert Head.objects.get().number == chain.height


def test_a_chain_that_began_with_another_block_is_refused(
    chain: LocalChain, watcher: Reader, settings: Any
) -> None:
    chain.mine(5)
    watcher.read()
    before = Head.objects.get().hash
    watcher.restart()
    other = LocalChain(str(program()), "--timestamp", "1700000000")
    other.mine(20)
    settings.CHAIN_URLS = {"sepolia": [other.url]}
    with pytest.raises(RpcError, match="began with another block"):
        watcher.read()
    other.close()
    assert Head.objects.get().hash == before


def test_a_node_that_lags_makes_credits_late_and_never_wrong(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    proxy.behind = 12
    chain.mine(15)
    chain.pay(address, 10)
    chain.mine(5)
    watcher.read()
    assert Head.objects.get().number == chain.height - 12
    assert not Deposit.objects.exists()
    proxy.behind = 4
    watcher.read()
    assert Deposit.objects.get().status == "confirming"
    proxy.behind = 0
    watcher.read()
    assert Deposit.objects.get().status == "confirmed"


def test_a_node_that_goes_backwards_is_no_reorg(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.pay(address, 10)
    chain.mine(10)
    watcher.read()
    before = Head.objects.get()
    deadline = clock.real_now()
    proxy.behind = 8
    watcher.read()
    assert (Head.objects.get().hash, Deposit.objects.get().status) == (before.hash, "confirmed")
    assert not is_caught_up("sepolia", deadline)


def test_a_node_that_lags_gives_way_to_one_that_keeps_up(
    chain: LocalChain, proxy: Proxy, second: Proxy, watcher: Reader
) -> None:
    watcher.read()
    chain.mine(20)
    watcher.read()
    proxy.behind = 15
    watcher.read()
    assert Head.objects.get().number == chain.height
    deadline = clock.real_now()
    chain.mine_after(deadline)
    watcher.read()
    assert is_caught_up("sepolia", deadline)


def test_a_tip_that_is_old_judges_no_deadline(
    chain: LocalChain, watcher: Reader, settings: Any
) -> None:
    settings.CHAIN_TIP_MAX_AGE_SECONDS = 600
    chain.mine(1)
    deadline = clock.real_now()
    with time_machine.travel(deadline + timedelta(seconds=700), tick=True):
        watcher.read()
        assert Head.objects.get().number == chain.height
        assert not is_caught_up("sepolia", deadline)
        chain.call(
            "evm_setNextBlockTimestamp", int((deadline + timedelta(seconds=690)).timestamp())
        )
        chain.mine(1)
        watcher.read()
        assert is_caught_up("sepolia", deadline)


def test_a_hung_node_is_left_and_taken_up_again(
    chain: LocalChain, watcher: Reader, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonrpc, "READ_SECONDS", 0.2)
    watcher.read()
    chain.pay(address, 10)
    chain.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(RpcError):
            watcher.read()
    finally:
        chain.process.send_signal(signal.SIGCONT)
    watcher.read()
    assert Deposit.objects.get().amount_atomic == 10


def test_the_addresses_of_nodes_are_in_no_log_and_no_error(
    chain: LocalChain, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    for how in FAILURES:
        break_with(proxy, how)
        with pytest.raises(RpcError) as caught:
            JsonRpc("sepolia", SEPOLIA_ID, [proxy.url]).call("eth_blockNumber", [])
        mend(proxy)
        assert "hunter2" not in str(caught.value) and "api-key" not in str(caught.value)
    with pytest.raises(RpcError) as caught:
        JsonRpc("sepolia", SEPOLIA_ID, ["http://someone:hunter2@127.0.0.1:1/api-key"]).call(
            "eth_blockNumber", []
        )
    told = caplog.text + str(caught.value)
    assert caplog.records and "hunter2" not in told and "api-key" not in told


REVERTS = {
    "geth": {"code": 3, "message": "execution reverted", "data": "0x"},
    "an old geth": {"code": -32000, "message": "execution reverted"},
    "a panic": {"code": -32000, "message": "failed", "data": "0x4e487b71" + "0" * 63 + "1"},
    "an error in words": {"code": -32000, "message": "failed", "data": "0x08c379a0" + "0" * 64},
    "nethermind": {"code": -32015, "message": "VM execution error.", "data": "Reverted 0x"},
    "without a code": {"message": "VM Exception while processing transaction: revert"},
}
REFUSALS = {
    "too many": {
        "code": -32005,
        "message": "limit exceeded",
        "data": {"see": "https://example.com"},
    },
    "no coins": {
        "code": -32000,
        "message": "insufficient funds for gas * price + value",
        "data": "0x",
    },
}


def test_a_revert_is_told_from_every_other_refusal_of_a_node(
    chain: LocalChain, proxy: Proxy
) -> None:
    node = JsonRpc("sepolia", SEPOLIA_ID, [proxy.url])
    node.call("eth_blockNumber", [])
    for name, error in {**REVERTS, **REFUSALS}.items():
        proxy.whole = (200, json.dumps({"jsonrpc": "2.0", "id": 0, "error": error}).encode())
        with pytest.raises(RpcError) as refusal:
            node.call("eth_call", [{}, "latest"])
        assert refusal.value.code == ("reverted" if name in REVERTS else "refused"), name


def test_nodes_of_a_chain_can_be_asked_from_many_threads_each_with_its_own(
    chain: LocalChain,
) -> None:
    heights: list[str] = []
    threads = [
        threading.Thread(
            target=lambda: heights.append(
                JsonRpc("sepolia", SEPOLIA_ID, [chain.url]).call("eth_blockNumber", [])
            )
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heights == ["0x0"] * 8
