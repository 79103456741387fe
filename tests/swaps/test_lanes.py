"""Two hot wallets of a chain and the books: payouts, sweeps, cold storage and funding leave every
invariant standing, and the chain with what the books say to the unit."""

from collections import Counter
from typing import Any

import pytest

from apps.chain.keys.seeds import Seed
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.nodes import nodes_of
from apps.chain.sending import sender, signing_rounds, sweeper
from apps.core import clock
from apps.core.process.published_secrets import DEMO_MNEMONIC
from apps.payments.services import treasury
from apps.payments.services.cold import book_cold, move_to_cold
from apps.payouts.services.progress import advance_payouts
from tests import make
from tests.cast import Shop
from tests.swaps.conftest import ETHER, Venue, is_exact
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_sweeps import paid_in

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
ground = ground_of()
SECOND = Seed(DEMO_MNEMONIC).hot_key("test", 1).address
COLD = "0x" + "c0" * 20


def fund_second(place: Venue, atomic: int) -> None:
    place.chain.call("anvil_setBalance", SECOND, hex(atomic))
    make.service_coins("SETH", atomic)


@pytest.fixture
def two(place: Venue, settings: Any) -> Venue:
    settings.SIGNER_LANES = {"sepolia": 2}
    signing_rounds.introduce()
    return place


def sent_by(purpose: str) -> Counter[str]:
    rows = OutgoingTransaction.objects.filter(purpose=purpose, status="confirmed")
    return Counter(rows.values_list("from_address", flat=True))


@pytest.mark.parametrize("count", [4, pytest.param(30, marks=pytest.mark.whole)])
def test_payouts_leave_from_both_and_the_books_agree(two: Venue, bakery: Shop, count: int) -> None:
    two.fund_hot(10)
    fund_second(two, 10 * ETHER)
    make.store_coins(bakery.store, "SETH", ETHER)
    two.chain.call("anvil_setBalance", two.hot, hex(11 * ETHER))
    payouts = [make.payout(bakery.test, ETHER // 100) for _ in range(count)]
    advance_payouts()
    two.work()
    advance_payouts()
    assert sent_by("payout") == {two.hot: count // 2, SECOND: count // 2}
    assert {make.detail_of_payout(bakery.test, row["id"])["status"] for row in payouts} == {
        "confirmed"
    }
    assert is_exact()


def test_a_sweep_goes_to_the_wallet_with_the_least(two: Venue, bakery: Shop) -> None:
    two.fund_hot(2)
    fund_second(two, ETHER)
    paid_in(two, bakery, "SETH")
    assert sweeper.sweep_due() == sweeper.SweepCounts(sweeps=1)
    two.work()
    row = OutgoingTransaction.objects.get(purpose="sweep")
    assert (row.status, row.handled_status, row.to_address) == ("confirmed", "confirmed", SECOND)
    assert is_exact()


@pytest.mark.whole
def test_a_sweep_to_a_wallet_that_is_halted_waits_and_the_next_goes_to_the_other(
    two: Venue, bakery: Shop
) -> None:
    two.fund_hot(2)
    fund_second(two, ETHER)
    paid_in(two, bakery, "SETH")
    sweeper.sweep_due()
    HotWallet.objects.filter(number=1).update(halted_at=clock.real_now())
    two.work()
    row = OutgoingTransaction.objects.get(purpose="sweep")
    assert (row.status, row.to_address) == ("requested", SECOND)

    paid_in(two, bakery, "USDC_SETH")
    assert sweeper.sweep_due() == sweeper.SweepCounts(sweeps=1, gas_transfers=1)
    two.work(2)
    other = OutgoingTransaction.objects.get(purpose="sweep", asset="USDC_SETH")
    assert (other.status, other.to_address) == ("confirmed", two.hot)
    assert sent_by("sweep_gas") == {two.hot: 1}
    assert is_exact()


def test_coins_that_a_payout_waits_for_come_to_the_wallet_that_has_the_most(
    two: Venue, bakery: Shop
) -> None:
    two.fund_hot(2)
    fund_second(two, ETHER)
    address = paid_in(two, bakery, "SETH", amount="9000.00")
    row = sender.request(
        chain_id="sepolia",
        asset_id="SETH",
        to=make.fresh_address(),
        amount_atomic=ETHER * 5 // 2,
        purpose="test_payment",
        reference="much",
        mode="test",
        at=clock.real_now(),
    )
    signing_rounds.sign_due()
    row.refresh_from_db()
    assert row.waits_for == "funds" and two.native(address) > ETHER
    sweeper.sweep_due()
    assert OutgoingTransaction.objects.get(purpose="sweep").to_address == two.hot


def test_cold_storage_takes_from_the_wallet_with_the_most(two: Venue, settings: Any) -> None:
    settings.COLD_FLOATS = {"SETH": "5:8"}
    settings.COLD_ADDRESSES = {"SETH": COLD}
    two.fund_hot(6)
    fund_second(two, 10 * ETHER)
    move_to_cold()
    two.work()
    book_cold()
    [row] = OutgoingTransaction.objects.filter(purpose="cold")
    assert (row.status, row.from_address) == ("confirmed", SECOND)
    assert 9 * ETHER < row.amount_atomic <= 10 * ETHER, "what one of them can send"
    assert is_exact()

    move_to_cold()
    assert OutgoingTransaction.objects.filter(purpose="cold").count() == 1, "six is below eight"


def test_coins_from_outside_are_booked_whichever_wallet_they_came_to(two: Venue) -> None:
    tx_hash = two.chain.pay(SECOND, 1000)
    between = HotWallet.objects.select_related("chain").get(number=0)
    two.work()
    staff = make.clerk()
    booked = treasury.book_funding(
        between, tx_hash, nodes_of(between.chain), staff, clock.real_now()
    )
    assert booked == {"SETH": 1000} and is_exact()
    second = HotWallet.objects.select_related("chain").get(number=1)
    with pytest.raises(treasury.AlreadyBooked):
        treasury.book_funding(second, tx_hash, nodes_of(second.chain), staff, clock.real_now())


def test_coins_that_one_wallet_sent_the_other_are_no_new_ones(two: Venue) -> None:
    two.fund_hot(2)
    two.chain.call("anvil_impersonateAccount", two.hot)
    tx_hash = two.chain.wait(
        two.chain.call("eth_sendTransaction", {"from": two.hot, "to": SECOND, "value": "0x5"})
    )
    two.chain.mine(3)
    wallet = HotWallet.objects.select_related("chain").get(number=1)
    with pytest.raises(treasury.NotFunding, match="the service's own"):
        treasury.book_funding(
            wallet, tx_hash, nodes_of(wallet.chain), make.clerk(), clock.real_now()
        )
