"""A transaction's tip is known without `eth_maxPriorityFeePerGas`, too."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.assets.models import Chain
from apps.chain.models import SignedTransaction
from apps.chain.sending.fees import GWEI, ceiling_of
from tests.chain.proxy import Proxy
from tests.sending.conftest import World
from tests.sending.test_sender import fresh

pytestmark = pytest.mark.chain

TIP = "eth_maxPriorityFeePerGas"
HISTORY = "eth_feeHistory"
PRICE = "eth_gasPrice"


@pytest.fixture
def proxy(world: World, settings: Any) -> Iterator[Proxy]:
    between = Proxy(world.url)
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [between.url]}
    yield between
    between.close()


@pytest.mark.parametrize("refusal", [(-32601, "Method not found"), (-32004, "not supported")])
@pytest.mark.parametrize("lacking", [(TIP,), (TIP, HISTORY)])
def test_the_tip_is_asked_in_another_way(
    world: World, proxy: Proxy, lacking: tuple[str, ...], refusal: tuple[int, str]
) -> None:
    proxy.refused_with = dict.fromkeys(lacking, refusal)
    proxy.lie(HISTORY, lambda answer: {**answer, "reward": [["0x5"], ["0x7"], ["0x9"]]})
    base_fee = int(world.rpc("eth_getBlockByNumber", "latest", False)["baseFeePerGas"], 16)
    proxy.lie(PRICE, lambda _: hex(base_fee + 11))
    to = world.stranger()
    row = world.ask(5, to)
    world.finish()
    assert (fresh(row).status, world.balance(to)) == ("confirmed", 5)
    tip = SignedTransaction.objects.get(outgoing=row).priority_fee_wei
    assert tip == (7 if HISTORY not in lacking else 11)


@pytest.mark.parametrize("history", [{}, {"reward": None}, {"reward": []}, {"reward": [[]]}, None])
def test_a_history_that_says_nothing_is_passed_over(
    world: World, proxy: Proxy, history: Any
) -> None:
    proxy.unknown.add(TIP)
    proxy.lie(HISTORY, lambda _: history)
    row = world.ask(5)
    world.finish()
    assert fresh(row).status == "confirmed"


def test_what_waits_for_a_node_that_says_no_price_says_so(world: World, proxy: Proxy) -> None:
    proxy.unknown |= {TIP, HISTORY, PRICE}
    row = world.ask(5)
    world.work()
    assert (fresh(row).status, fresh(row).reason_code, fresh(row).waits_for) == (
        "requested",
        "network_silent",
        "network",
    )
    proxy.unknown.clear()
    world.a_minute_passes()
    world.finish()
    assert fresh(row).status == "confirmed"


def test_a_network_has_a_ceiling_of_its_own(world: World, settings: Any) -> None:
    assert settings.SIGNER_MAX_FEE_GWEI < 400
    settings.SIGNER_FEE_CEILINGS = ["base=20", "sepolia=1000"]
    world.rpc("anvil_setNextBlockBaseFeePerGas", hex(400 * GWEI))
    world.mine()
    row = world.ask(5)
    world.work()
    signed = SignedTransaction.objects.get(outgoing=row)
    assert 400 * GWEI < signed.max_fee_wei <= 1000 * GWEI
    world.rpc("anvil_setNextBlockBaseFeePerGas", hex(GWEI))
    world.mine()


def test_no_less_is_offered_than_a_network_takes_at_all(world: World, settings: Any) -> None:
    settings.SIGNER_TIP_FLOORS = ["polygon=99", "sepolia=25"]
    settings.SIGNER_FEE_CEILINGS = ["sepolia=300"]
    row = world.ask(5)
    world.work()
    assert (fresh(row).status, fresh(row).reason) == ("submitted", "")
    assert SignedTransaction.objects.get(outgoing=row).priority_fee_wei == 25 * GWEI


def test_a_network_without_a_line_keeps_to_the_services(settings: Any, db: None) -> None:
    [chain] = Chain.objects.filter(pk="ethereum")
    assert ceiling_of(chain) == settings.SIGNER_MAX_FEE_GWEI * GWEI
    [polygon] = Chain.objects.filter(pk="polygon")
    assert ceiling_of(polygon) == 5_000 * GWEI
