"""Nodes that refuse batches, or bound them, are learned and served, down to single calls."""

import time
from datetime import timedelta

import pytest
import structlog
from prometheus_client import REGISTRY

from apps.audit import custody
from apps.chain.models import Deposit, Head
from apps.chain.providers.base import RpcError
from apps.chain.providers.jsonrpc import JsonRpc
from apps.chain.rpc import batches
from apps.core import clock
from tests.chain.conftest import Reader, make_address
from tests.chain.local import FORWARDER, SEPOLIA_ID, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import CONTRACT

pytestmark = pytest.mark.chain

REFUSALS = [
    "one error",
    "no batches",
    "geth",
    "too long an answer",
    "each",
    "cut short",
    "the first alone",
    "a page",
    "hangs up",
    "400",
    "413",
    "429",
    "500",
    "503",
]
CALLS = [("eth_getBlockByNumber", [hex(number), False]) for number in range(40)]


@pytest.fixture
def node(proxy: Proxy, chain: LocalChain) -> JsonRpc:
    chain.mine(50)
    return JsonRpc("sepolia", SEPOLIA_ID, [proxy.url])


def numbers(answers: list[dict[str, str]]) -> list[int]:
    return [int(answer["number"], 16) for answer in answers]


@pytest.mark.parametrize("how", REFUSALS)
@pytest.mark.parametrize("most", [1, 3])
def test_so_many_calls_are_asked_as_the_node_takes_and_it_is_remembered(
    proxy: Proxy, node: JsonRpc, how: str, most: int
) -> None:
    proxy.batch_max, proxy.batch_refusal = most, how
    failures = {"chain": "sepolia", "node": "sepolia node 1"}
    before = REGISTRY.get_sample_value("tillgate_chain_rpc_errors_total", failures) or 0
    assert numbers(node.batch(CALLS)) == list(range(40))
    assert proxy.batches_refused < 9
    # Another object for the same node, as each job has one, asks as was learned.
    proxy.batches_refused = 0
    again = JsonRpc("sepolia", SEPOLIA_ID, [proxy.url])
    assert numbers(again.batch(CALLS)) == list(range(40))
    assert proxy.batches_refused == 0
    assert (REGISTRY.get_sample_value("tillgate_chain_rpc_errors_total", failures) or 0) == before


def test_what_a_node_takes_grows_again_with_care(
    proxy: Proxy, node: JsonRpc, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    proxy.batch_max = 10
    node.batch(CALLS)
    for _ in range(10):
        now += batches.GROW_SECONDS + 1
        node.batch(CALLS)
    proxy.batches.clear()
    proxy.batches_refused = 0
    now += batches.GROW_SECONDS + 1
    node.batch(CALLS)
    assert (proxy.batches, proxy.batches_refused) == ([2, 10, 10, 10, 10], 0)
    proxy.batch_max = None
    for _ in range(5):
        now += batches.FORGET_SECONDS + 1
        node.batch(CALLS)
    proxy.batches.clear()
    node.batch(CALLS)
    assert proxy.batches == [40]


def test_a_node_that_is_down_is_not_asked_again_and_again_for_a_batch(
    proxy: Proxy, second: Proxy, node: JsonRpc
) -> None:
    both = JsonRpc("sepolia", SEPOLIA_ID, [proxy.url, second.url])
    both.batch(CALLS)
    for status in (429, 500, 503):
        proxy.batches.clear()
        proxy.whole = (status, b"")
        fresh = JsonRpc("sepolia", SEPOLIA_ID, [proxy.url, second.url])
        assert numbers(fresh.batch(CALLS)) == list(range(40))
        assert len(proxy.batches) == 2, status
        proxy.whole = None
    proxy.batches.clear()
    assert numbers(node.batch(CALLS)) == list(range(40))
    assert 40 in proxy.batches


def test_a_limit_of_calls_a_second_is_no_limit_of_batches(proxy: Proxy, node: JsonRpc) -> None:
    node.batch(CALLS)
    proxy.batches.clear()
    proxy.whole = (
        200,
        b'{"jsonrpc":"2.0","id":0,"error":{"code":-32005,"message":"limit exceeded"}}',
    )
    with pytest.raises(RpcError, match="limit exceeded"):
        node.batch(CALLS)
    assert len(proxy.batches) == 2
    proxy.whole = None
    proxy.batches.clear()
    node.batch(CALLS)
    assert 40 in proxy.batches


def test_a_call_that_is_refused_in_a_batch_is_refused_alone(proxy: Proxy, node: JsonRpc) -> None:
    proxy.unknown.add("eth_gasPrice")
    calls = [*CALLS[:5], ("eth_gasPrice", []), *CALLS[5:9]]
    for most in (None, 3, 1):
        proxy.batch_max = most
        answers = node.each(calls)
        assert isinstance(answers.pop(5), RpcError)
        assert numbers(answers) == list(range(9))


@pytest.mark.parametrize("most", [1, 3, 10])
def test_payments_of_contracts_are_found_past_such_a_node_and_the_audit_agrees(
    chain: LocalChain, proxy: Proxy, watcher: Reader, db: None, most: int
) -> None:
    until = clock.real_now() + timedelta(days=1)
    addresses = [make_address(native_chain="sepolia", watch_balance_until=until) for _ in range(24)]
    proxy.batch_max = most
    chain.put(FORWARDER, CONTRACT)
    for place, each in enumerate(addresses):
        chain.through(CONTRACT, 100 + place, each)
    chain.mine(12)
    watcher.read()
    assert Head.objects.get().number == chain.height
    assert Deposit.objects.filter(status="confirmed").count() == 24
    total = sum(100 + place for place in range(24))
    books = [book for book in custody.booked() if book.asset.pk == "SETH"]
    (checked,) = custody.compare(books)
    assert checked.detail == "" and books[0].expected_atomic == total


def test_a_method_that_a_node_has_not_and_a_contract_that_reverts_are_no_failures(
    proxy: Proxy, node: JsonRpc
) -> None:
    labels = {"chain": "sepolia", "node": "sepolia node 1"}
    node.batch(CALLS)
    before = REGISTRY.get_sample_value("tillgate_chain_rpc_errors_total", labels) or 0
    answers = {
        "hardhat": (-32004, "Method debug_traceBlockByHash is not supported"),
        "ganache": (-32700, "Method debug_traceBlockByHash not supported."),
        "a provider": (-32000, "Unsupported method: debug_traceBlockByHash. See our pages."),
        "infura": (-32601, "The method debug_traceBlockByHash does not exist/is not available"),
        "a revert": (3, "execution reverted"),
    }
    with structlog.testing.capture_logs() as logs:
        for code, message in answers.values():
            proxy.refused_with["debug_traceBlockByHash"] = (code, message)
            for _ in range(2):
                with pytest.raises(RpcError) as refusal:
                    node.call("debug_traceBlockByHash", ["0x", {}])
                assert refusal.value.code == ("reverted" if code == 3 else "unsupported")
    assert (REGISTRY.get_sample_value("tillgate_chain_rpc_errors_total", labels) or 0) == before
    events = [entry["event"] for entry in logs]
    assert "node_failed" not in events and events.count("node_lacks_method") <= 4
