"""A node that takes a swap or a sweep and says nothing, that lags, forgets, or tells of a receipt
without what it brought."""

from typing import Any

import pytest

from apps.chain.models import OutgoingTransaction
from apps.chain.sending import sender, signing_rounds, sweeper
from apps.swaps.services.progress import advance_swaps
from tests import make
from tests.cast import Shop
from tests.chain.proxy import Proxy
from tests.swaps.conftest import ETHER, Venue, is_exact, open_market
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_exchange import start, told
from tests.swaps.test_sweeps import paid_in

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
ground = ground_of(lambda place, shop: open_market(place))


@pytest.fixture
def selling(market: Venue, bakery: Shop) -> str:
    """A swap of an ether that is asked for and not yet signed."""
    market.fund_hot(10)
    make.store_coins(bakery.store, "SETH", ETHER)
    market.chain.call("anvil_setBalance", market.hot, hex(11 * ETHER))
    swap_id = start(bakery, "SETH", "USDC_SETH", ETHER)
    advance_swaps()
    return swap_id


def through(settings: Any, market: Venue) -> Proxy:
    """The only node from now on is one that can be made to misbehave."""
    between = Proxy(market.chain.url)
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [between.url]}
    return between


def test_a_swap_whose_answer_got_lost_is_looked_up_and_never_sent_anew(
    market: Venue, bakery: Shop, selling: str, settings: Any
) -> None:
    node = through(settings, market)
    node.changes.append(
        lambda method, _, result: _lost(node) if method == "eth_sendRawTransaction" else result
    )
    signing_rounds.sign_due()
    sender.run_due()
    node.cut = False
    node.changes = []
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [market.chain.url]}
    market.work(2)
    row = OutgoingTransaction.objects.get(purpose="swap")
    assert (told(bakery, selling)["status"], row.candidates.count(), market.calls_from_hot()) == (
        "completed",
        1,
        1,
    )
    assert is_exact()
    node.close()


def _lost(node: Proxy) -> None:
    """The answer of this call is cut off in the middle."""
    node.cut = True


def test_a_receipt_without_what_the_swap_brought_ends_nothing(
    market: Venue, bakery: Shop, selling: str, settings: Any
) -> None:
    signing_rounds.sign_due()
    sender.run_due()
    market.chain.mine(4)
    node = through(settings, market)
    node.unknown.add("eth_getBlockReceipts")
    node.lie(
        "eth_getTransactionReceipt", lambda receipt: {**receipt, "logs": []} if receipt else receipt
    )
    sender.run_due()
    advance_swaps()
    assert told(bakery, selling)["status"] == "submitted"
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [market.chain.url]}
    market.work()
    assert told(bakery, selling)["status"] == "completed" and is_exact()
    node.close()


def test_a_node_that_forgot_the_swap_is_given_the_same_bytes(
    market: Venue, bakery: Shop, selling: str
) -> None:
    market.chain.call("evm_setAutomine", False)
    signing_rounds.sign_due()
    sender.run_due()
    row = OutgoingTransaction.objects.get(purpose="swap")
    market.chain.call("anvil_dropTransaction", row.tx_hash)
    market.chain.call("evm_setAutomine", True)
    row.candidates.update(broadcast_at=None)
    market.work(2)
    row.refresh_from_db()
    assert (told(bakery, selling)["status"], row.candidates.count(), market.calls_from_hot()) == (
        "completed",
        1,
        1,
    )
    assert is_exact()


def test_a_reorg_under_a_swap_that_was_sent_brings_it_back(
    market: Venue, bakery: Shop, selling: str
) -> None:
    signing_rounds.sign_due()
    sender.run_due()
    market.chain.reorg(1)
    OutgoingTransaction.objects.get(purpose="swap").candidates.update(broadcast_at=None)
    market.work(2)
    assert (told(bakery, selling)["status"], market.calls_from_hot()) == ("completed", 1)
    assert is_exact()


def test_a_node_that_is_behind_signs_no_second_sweep(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    place.fund_hot(1)
    address = paid_in(place, bakery, "SETH")
    sweeper.sweep_due()
    place.work()
    place.chain.pay(address, ETHER)
    place.arrives()
    sweeper.sweep_due()
    node = through(settings, place)
    node.lie("eth_getTransactionCount", lambda _: "0x0")
    assert signing_rounds.sign_due() == 0
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [place.chain.url]}
    place.work()
    assert sorted(
        OutgoingTransaction.objects.filter(purpose="sweep").values_list("nonce", flat=True)
    ) == [0, 1]
    assert is_exact()
    node.close()


def test_a_sweep_whose_answer_got_lost_is_one_sweep(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    place.fund_hot(1)
    address = paid_in(place, bakery, "SETH")
    sweeper.sweep_due()
    node = through(settings, place)
    node.changes.append(
        lambda method, _, result: _lost(node) if method == "eth_sendRawTransaction" else result
    )
    signing_rounds.sign_due()
    sender.run_due()
    settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [place.chain.url]}
    place.work(2)
    row = OutgoingTransaction.objects.get(purpose="sweep")
    assert (row.status, row.candidates.count()) == ("confirmed", 1)
    assert int(place.chain.call("eth_getTransactionCount", address, "latest"), 16) == 1
    assert is_exact()
    node.close()
