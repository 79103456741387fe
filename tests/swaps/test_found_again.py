"""A refund, a swap, and a sweep whose receipts no node has for minutes: they come back by
themselves, with their wallet and their books, and nothing is sent a second time."""

from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending import doubts, sender, signing_rounds, sweeper
from apps.core import clock
from apps.payments.models import PaymentAddress, Refund
from apps.payments.services.refund_progress import advance_refunds
from apps.swaps.models import Swap
from apps.swaps.services.progress import advance_swaps
from tests import make
from tests.cast import Shop
from tests.chain.proxy import Proxy
from tests.sending.test_doubts import hide
from tests.swaps.conftest import ETHER, Venue, is_exact, open_market
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_exchange import start
from tests.swaps.test_sweeps import paid_in

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
ground = ground_of(lambda place, shop: open_market(place))
HOLDER = "0x" + "d0" * 20


def refund(market: Venue, shop: Shop) -> Callable[[], str]:
    address = paid_in(market, shop, "SETH", "5.00")
    payment_id = PaymentAddress.objects.get(address=address).payment_id
    body = {"refund": {"amount": "0.001", "destination_address": HOLDER}}
    answer = shop.test.post(f"/payments/{payment_id}/refunds", body, key="back")
    assert answer.status_code == 201, answer.content
    advance_refunds()
    return lambda: str(Refund.objects.get().status)


def swap(market: Venue, shop: Shop) -> Callable[[], str]:
    make.store_coins(shop.store, "SETH", ETHER)
    market.chain.call("anvil_setBalance", market.hot, hex(51 * ETHER))
    swap_id = start(shop, "SETH", "USDC_SETH", ETHER)
    advance_swaps()
    return lambda: str(Swap.objects.get(pk=swap_id).status)


def sweep(market: Venue, shop: Shop) -> Callable[[], str]:
    paid_in(market, shop, "SETH")
    sweeper.sweep_due()
    return lambda: str(OutgoingTransaction.objects.get(purpose="sweep").status)


@pytest.mark.parametrize(
    ("ask", "after"),
    [(refund, "confirmed"), (swap, "completed"), (sweep, "confirmed")],
    ids=["refund", "swap", "sweep"],
)
def test_what_was_in_doubt_comes_back_by_itself(
    market: Venue,
    bakery: Shop,
    settings: Any,
    ask: Callable[[Venue, Shop], Callable[[], str]],
    after: str,
) -> None:
    market.fund_hot()
    status = ask(market, bakery)
    signing_rounds.sign_due()
    sender.run_due()
    market.chain.mine(4)
    sent = OutgoingTransaction.objects.get()
    is_of_hot_wallet = sent.from_address == HotWallet.objects.get().address
    with closing(Proxy(market.chain.url)) as proxy:
        settings.CHAIN_URLS = {**settings.CHAIN_URLS, "sepolia": [proxy.url]}
        hide(proxy)
        sender.run_due()
        long_ago = clock.real_now() - doubts.PATIENCE - timedelta(seconds=1)
        assert OutgoingTransaction.objects.filter(unknown_since__isnull=False).update(
            unknown_since=long_ago
        )
        sender.run_due()
        advance_refunds()
        advance_swaps()
        assert OutgoingTransaction.objects.get().status == "review"
        assert (HotWallet.objects.get().halted_at is not None) == is_of_hot_wallet
        assert status() != after
        proxy.changes.clear()
        market.work(2)
        advance_refunds()
        assert status() == after
        assert HotWallet.objects.get().halted_at is None
        row = OutgoingTransaction.objects.get()
        assert (row.status, row.tx_hash, row.candidates.count()) == ("confirmed", sent.tx_hash, 1)
        assert is_exact()
