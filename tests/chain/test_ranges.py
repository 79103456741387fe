"""Logs of blocks that are read together come from few questions; what a node refuses is asked for
in smaller parts, down to single blocks, and no transfer is missed."""

import time
from typing import Any

import pytest

from apps.assets.models import Asset
from apps.chain.models import Deposit
from apps.chain.rpc.batches import LOG_SPAN_MAX, SPAN_GROW_SECONDS
from tests.chain.conftest import Reader, make_address
from tests.chain.local import LocalChain
from tests.chain.proxy import Proxy

pytestmark = pytest.mark.chain
BLOCKS = 40


@pytest.fixture
def paid(chain: LocalChain, proxy: Proxy, db: None) -> list[tuple[str, int]]:
    """Transfers of a token and of coins in most of many blocks, of which nothing was read."""
    token = chain.deploy_token()
    Asset.objects.filter(pk="USDC_SETH").update(contract_address=token)
    addresses = [make_address() for _ in range(4)]
    expected = []
    for number in range(1, BLOCKS + 1):
        address = addresses[number % len(addresses)]
        if number % 7 == 0:
            chain.mine()
        elif number % 5 == 0:
            chain.pay(address, number)
            expected.append((address, number))
        else:
            chain.mint(token, address, number)
            expected.append((address, number))
    return sorted(expected)


def received() -> list[tuple[str, int]]:
    rows = Deposit.objects.values_list("address_id", "amount_atomic")
    return sorted((address, int(amount)) for address, amount in rows)


def is_range(method: str, given: list[Any]) -> bool:
    return method == "eth_getLogs" and "fromBlock" in given[0]


def length(given: list[Any]) -> int:
    return int(given[0]["toBlock"], 16) - int(given[0]["fromBlock"], 16) + 1


def test_many_blocks_are_asked_for_in_few_questions(
    chain: LocalChain, proxy: Proxy, watcher: Reader, paid: list[tuple[str, int]]
) -> None:
    asked: list[int] = []
    proxy.refusal_of = lambda method, given: (
        asked.append(length(given)) if is_range(method, given) else None
    )
    watcher.read()
    assert received() == paid
    assert max(asked) > 5 and proxy.calls.count("eth_getLogs") < chain.height


REFUSALS = {
    "Infura and geth's kin": (-32005, "query returned more than 10000 results"),
    "Alchemy": (-32602, "Log response size exceeded. You can make eth_getLogs requests with up to"),
    "Ankr": (-32062, "block range is too wide"),
    "Cloudflare": (-32047, "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large."),
    "QuickNode": (-32614, "eth_getLogs is limited to a 5 range"),
    "BSC's nodes": (-32000, "exceed maximum block range: 5000"),
}


@pytest.mark.parametrize("most", [0, 1, 3])
@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=list(REFUSALS))
def test_what_is_refused_is_split(
    proxy: Proxy,
    watcher: Reader,
    paid: list[tuple[str, int]],
    refusal: tuple[int, str],
    most: int,
) -> None:
    proxy.refusal_of = lambda method, given: (
        refusal if is_range(method, given) and length(given) > most else None
    )
    watcher.read()
    assert received() == paid
    assert watcher.watcher is not None
    assert watcher.watcher.nodes.log_span.limit() <= max(most, 1)


def test_a_length_that_was_refused_is_tried_again_a_while_later(
    proxy: Proxy,
    watcher: Reader,
    paid: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    refusal = (-32005, "query returned more than 10000 results")
    proxy.refusal_of = lambda method, given: (
        refusal if is_range(method, given) and length(given) > 2 else None
    )
    watcher.read()
    assert received() == paid and watcher.watcher is not None
    span = watcher.watcher.nodes.log_span
    assert span.limit() == 2
    lengths = []
    for _ in range(5):
        now += SPAN_GROW_SECONDS + 1
        lengths.append(span.limit())
    assert lengths == [4, 8, 16, LOG_SPAN_MAX, LOG_SPAN_MAX]
    span.refused(LOG_SPAN_MAX)
    assert span.limit() == LOG_SPAN_MAX // 2


def test_a_range_that_lacks_logs_is_completed_by_the_blocks_filters(
    proxy: Proxy, watcher: Reader, paid: list[tuple[str, int]]
) -> None:
    """A node behind a balancer may not have the newest of them."""
    proxy.changes.append(
        lambda method, given, result: result[:1] if is_range(method, given) else result
    )
    watcher.read()
    assert received() == paid


@pytest.mark.parametrize(
    "lie",
    [
        lambda log: {**log, "blockHash": "0x" + "1" * 64},
        lambda log: {**log, "blockNumber": None},
        lambda log: None,
    ],
)
def test_a_range_of_another_branch_is_asked_for_by_hash(
    proxy: Proxy, watcher: Reader, paid: list[tuple[str, int]], lie: Any
) -> None:
    proxy.changes.append(
        lambda method, given, result: (
            [lie(log) for log in result] if is_range(method, given) else result
        )
    )
    watcher.read()
    assert received() == paid
