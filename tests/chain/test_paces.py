"""Work that costs a node much, or reaches back, goes by the clock: a network with many blocks a
second is asked no more often than one with few."""

from datetime import timedelta
from typing import Any

import pytest

from apps.assets.models import Chain
from apps.chain.models import Block
from apps.chain.watching.watcher import START_BACK_SECONDS
from apps.core import clock
from tests.chain.conftest import Reader, make_address
from tests.chain.local import LocalChain
from tests.chain.proxy import Proxy

pytestmark = pytest.mark.chain

BLOCKS = 60


@pytest.mark.parametrize(("block_milliseconds", "looks"), [(250, 1), (2_000, 5), (12_000, 30)])
def test_balances_are_looked_at_by_the_clock(
    chain: LocalChain,
    proxy: Proxy,
    watcher: Reader,
    settings: Any,
    block_milliseconds: int,
    looks: int,
) -> None:
    Chain.objects.filter(pk="sepolia").update(block_milliseconds=block_milliseconds)
    settings.CHAIN_BALANCE_CHECK_BLOCKS = 0
    settings.CHAIN_BALANCE_CHECK_SECONDS = 24
    make_address(native_chain="sepolia", watch_balance_until=clock.real_now() + timedelta(days=1))
    watcher.read()
    proxy.calls.clear()
    for _ in range(BLOCKS):
        chain.mine(1)
        watcher.read()
    assert abs(proxy.calls.count("eth_getBalance") - looks) <= 1


@pytest.mark.parametrize("blocks_back", [3, 7])
def test_a_new_watcher_begins_as_long_ago_on_every_network(
    chain: LocalChain, watcher: Reader, address: str, settings: Any, blocks_back: int
) -> None:
    Chain.objects.filter(pk="sepolia").update(
        block_milliseconds=START_BACK_SECONDS * 1_000 // blocks_back
    )
    settings.CHAIN_START_BLOCKS = {}
    chain.mine(10)
    tip = chain.height
    watcher.read()
    numbers = sorted(Block.objects.filter(chain="sepolia").values_list("number", flat=True))
    assert numbers == list(range(tip - blocks_back, tip + 1))
