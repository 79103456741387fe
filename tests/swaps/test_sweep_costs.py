"""A sweep costs less than it brings, leaves little behind, and what it left is collected once that
is worth its gas."""

from datetime import timedelta
from typing import Any

import pytest

from apps.assets.models import Asset, Chain
from apps.assets.services import change_asset
from apps.chain.models import GasLeft, Obstacle, OutgoingTransaction, SignedTransaction
from apps.chain.nodes import nodes_of
from apps.chain.sending import (
    gas_left,
    obstacles,
    sender,
    signing_rounds,
    sweep_costs,
    sweep_top_ups,
    sweeper,
)
from apps.core import clock
from apps.core.models import RowTurn
from apps.ledger.selectors import account_balance
from tests.cast import Shop
from tests.payouts.moody import Issuer, open_moody
from tests.swaps.conftest import DOLLAR, ETHER, Venue, is_exact
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_sweeps import amount_at, paid_in

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
ground = ground_of(open_moody)
GWEI = 10**9


@pytest.fixture
def issuer(place: Venue) -> Issuer:
    return Issuer(place)


def gas_costs(place: Venue, gwei: int) -> None:
    """From the next block on, as far as a test's blocks reach."""
    place.chain.call("anvil_setNextBlockBaseFeePerGas", hex(gwei * GWEI))
    place.chain.mine()


def rows(purpose: str) -> list[OutgoingTransaction]:
    return list(OutgoingTransaction.objects.filter(purpose=purpose).order_by("requested_at"))


def swept(place: Venue) -> None:
    """A round of the sweeper, the gas, and the sweep."""
    sweeper.sweep_due()
    place.work(2)


def test_most_of_the_gas_that_is_sent_ahead_is_used(place: Venue, bakery: Shop) -> None:
    address = paid_in(place, bakery, "USDC_SETH")
    gas_costs(place, 30)
    sweeper.sweep_due()
    signing_rounds.sign_due()
    sender.run_due()
    signing_rounds.sign_due()
    sender.run_due()
    [gas], [sweep] = rows("sweep_gas"), rows("sweep")
    assert place.tokens(address) == 0, "it is swept with the next block, not when gas is final"
    place.work()
    sweep.refresh_from_db()
    assert sweep.status == "confirmed"
    assert sweep.network_fee_atomic > gas.amount_atomic // 2, "the base fee fell meanwhile"
    left = place.native(address)
    assert left == gas.amount_atomic - sweep.network_fee_atomic
    assert GasLeft.objects.get(address=address).amount_atomic == left
    assert is_exact()


def test_a_sweep_that_costs_too_much_of_what_it_brings_waits_and_staff_see_why(
    place: Venue, bakery: Shop
) -> None:
    address = paid_in(place, bakery, "USDC_SETH", "50.00")
    gas_costs(place, 140)
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    row = Obstacle.objects.get()
    amount = amount_at(address)
    assert (row.kind, row.asset_id, row.ended_at) == ("gas", "USDC_SETH", None)
    assert (row.addresses, row.amount_atomic) == (1, amount)
    assert amount // 10 < row.cost_atomic < amount
    assert is_exact()

    gas_costs(place, 1)
    swept(place)
    row.refresh_from_db()
    assert place.tokens(address) == 0 and row.ended_at is not None
    assert is_exact()


def test_an_asset_says_what_is_swept_of_it_and_at_what_cost(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    settings.SWEEP_MINIMUMS = []
    addresses = sorted(paid_in(place, bakery, "USDC_SETH", "50.00") for _ in range(2))
    assert sweeper.sweep_due() == sweeper.SweepCounts(), "nothing says from which amount on"
    amount = amount_at(addresses[0])
    change_asset("USDC_SETH", sweeping={"sweep_minimum_atomic": amount + 1})
    assert sweeper.sweep_due() == sweeper.SweepCounts(), "it is less than the asset says"
    gas_costs(place, 20)  # more than one in a hundred of it, and less than ten
    change_asset("USDC_SETH", sweeping={"sweep_minimum_atomic": amount, "sweep_cost_bps": 100})
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    row = Obstacle.objects.get()
    assert (row.asset_id, row.addresses, row.ended_at) == ("USDC_SETH", 2, None)
    change_asset("USDC_SETH", sweeping={"sweep_cost_bps": None})
    assert sweeper.sweep_due() == sweeper.SweepCounts(sweeps=2, gas_transfers=2)
    place.work(2)
    assert [place.tokens(address) for address in addresses] == [0, 0]
    assert is_exact()


def test_what_the_wallet_lacks_is_brought_at_a_higher_cost_but_never_for_more_than_it_is_worth(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    address = paid_in(place, bakery, "USDC_SETH", "50.00")
    settings.SWEEP_MINIMUMS = []
    chain = Chain.objects.get(pk="sepolia")
    coin = Asset.objects.get(pk="USDC_SETH")
    native = Asset.objects.get(pk="SETH")

    def cost(gwei: int) -> int:
        gas_costs(place, gwei)
        price = sweep_costs.price_on(chain, nodes_of(chain))
        assert price is not None
        return sweep_costs.in_coins(coin, native, price.token_cost(60_000)) or 0

    amount = amount_at(address)
    assert sweep_costs.is_worth(coin, amount, cost(140), is_wanted=True)
    assert not sweep_costs.is_worth(coin, amount, cost(140), is_wanted=False)
    assert not sweep_costs.is_worth(coin, DOLLAR, cost(140), is_wanted=True)


def test_what_is_left_at_old_addresses_is_collected_once_gas_is_cheap(
    place: Venue, bakery: Shop
) -> None:
    address = paid_in(place, bakery, "USDC_SETH", "5000.00")
    gas_costs(place, 140)
    swept(place)
    left = place.native(address)
    assert place.tokens(address) == 0 and left > 0
    gas_costs(place, 140)
    assert sweeper.sweep_due() == sweeper.SweepCounts(), "more than it brings"

    place.chain.call("anvil_setNextBlockBaseFeePerGas", hex(GWEI // 10))
    place.chain.call("anvil_mine", "0x40")
    assert sweeper.sweep_due() == sweeper.SweepCounts(sweeps=1)
    place.work()
    row = rows("sweep")[-1]
    assert (row.asset_id, row.from_address, row.status) == ("SETH", address, "confirmed")
    assert place.native(address) < left // 10
    assert account_balance(None, "test", "SETH", "custody_deposits") == -place.native(address)
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    assert is_exact()


def test_what_was_left_before_this_was_kept_is_learned(place: Venue, bakery: Shop) -> None:
    address = paid_in(place, bakery, "USDC_SETH")
    swept(place)
    GasLeft.objects.all().delete()
    RowTurn.objects.filter(job="chain.gas_left:sepolia").delete()
    for _ in range(2):
        gas_left.learn(Chain.objects.get(pk="sepolia"))
    assert GasLeft.objects.get().amount_atomic == place.native(address)


class TestAFrozenDepositAddress:
    def test_is_asked_ever_more_rarely_is_shown_and_swept_once_it_is_released(
        self, place: Venue, bakery: Shop, issuer: Issuer
    ) -> None:
        address = paid_in(place, bakery, "USDC_SETH")
        other = paid_in(place, bakery, "USDC_SETH")
        issuer.freeze(address)
        swept(place)
        assert place.tokens(other) == 0, "it holds up no other"
        for _ in range(3):
            swept(place)
        row = Obstacle.objects.get(kind="address")
        assert (row.holder, row.amount_atomic) == (address, amount_at(address))
        assert row.next_look_at > clock.real_now()
        assert len(rows("sweep")) == 1 and place.native(address) == 0

        Obstacle.objects.update(next_look_at=clock.real_now())
        swept(place)
        assert row.next_look_at < Obstacle.objects.get(kind="address").next_look_at
        assert len(rows("sweep")) == 1, "no row for each look"

        issuer.freeze(address, False)
        Obstacle.objects.update(next_look_at=clock.real_now())
        swept(place)
        row.refresh_from_db()
        assert place.tokens(address) == 0 and row.ended_at is not None
        assert is_exact()

    def test_one_frozen_after_its_gas_came_fails_once_and_then_waits(
        self, place: Venue, bakery: Shop, issuer: Issuer
    ) -> None:
        address = paid_in(place, bakery, "USDC_SETH")
        sweeper.sweep_due()
        issuer.freeze(address)
        for _ in range(4):
            place.work()
            sweeper.sweep_due()
        assert [row.status for row in rows("sweep")] == ["failed"]
        assert Obstacle.objects.get(kind="address", ended_at=None).holder == address
        issuer.freeze(address, False)
        Obstacle.objects.update(next_look_at=clock.real_now())
        swept(place)
        assert place.tokens(address) == 0 and len(rows("sweep_gas")) == 1
        assert is_exact()


def test_nothing_of_a_paused_token_is_swept_and_no_gas_is_sent_for_it(
    place: Venue, bakery: Shop, issuer: Issuer
) -> None:
    address = paid_in(place, bakery, "USDC_SETH")
    issuer.pause()
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    obstacles.look_at_tokens()
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    assert not Obstacle.objects.filter(kind="address").exists()
    issuer.pause(False)
    obstacles.look_at_tokens()
    swept(place)
    assert place.tokens(address) == 0 and is_exact()


def test_a_native_sweep_leaves_little_and_is_worth_its_gas(place: Venue, bakery: Shop) -> None:
    address = paid_in(place, bakery, "SETH")
    swept(place)
    [row] = rows("sweep")
    assert row.status == "confirmed" and place.native(address) < 3 * row.network_fee_atomic
    assert GasLeft.objects.get(address=address).amount_atomic == place.native(address)
    assert place.native(place.hot) > 50 * ETHER and is_exact()


class TestASignedSweepThatTheBaseFeeOutran:
    def signed(self, place: Venue) -> OutgoingTransaction:
        """It was signed at a low fee, and the block that could have it is far dearer."""
        sweeper.sweep_due()
        signing_rounds.sign_due()
        sender.run_due()
        signing_rounds.sign_due()
        place.arrives()
        gas_costs(place, 40)
        sender.run_due()
        [gas], [row] = rows("sweep_gas"), rows("sweep")
        assert (gas.status, row.status, row.candidates.count()) == ("confirmed", "signed", 1)
        return row

    def minutes_pass(self) -> None:
        long_ago = clock.real_now() - timedelta(minutes=10)
        SignedTransaction.objects.update(signed_at=long_ago, broadcast_at=None)
        OutgoingTransaction.objects.filter(purpose="sweep").update(signed_at=long_ago)

    def test_gets_what_it_lacks_and_is_sent_at_the_same_nonce(
        self, place: Venue, bakery: Shop
    ) -> None:
        address = paid_in(place, bakery, "USDC_SETH", "5000.00")
        gas_costs(place, 2)
        row = self.signed(place)
        assert signing_rounds.sign_due() == 0, "what is there isn't enough"
        assert sweeper.sweep_due() == sweeper.SweepCounts(), "it has waited for too short"
        self.minutes_pass()
        gas_costs(place, 40)
        assert sweeper.sweep_due() == sweeper.SweepCounts(gas_transfers=1)
        assert sweeper.sweep_due() == sweeper.SweepCounts(), "once, while it is on its way"
        for _ in ("the gas", "the sweep"):
            signing_rounds.sign_due()
            sender.run_due()
        assert row.candidates.count() == 2
        place.work()
        row.refresh_from_db()
        assert (row.status, row.nonce, row.tx_hash) == (
            "confirmed",
            0,
            row.candidates.order_by("pk")[1].tx_hash,
        )
        assert place.tokens(address) == 0 and len(rows("sweep_gas")) == 2
        assert is_exact()

    @pytest.mark.parametrize("why", ["worth", "bounded"])
    def test_isnt_paid_for_beyond_what_it_brings_nor_for_ever(
        self,
        place: Venue,
        bakery: Shop,
        settings: Any,
        monkeypatch: pytest.MonkeyPatch,
        why: str,
    ) -> None:
        settings.SWEEP_MINIMUMS = ["USDC_SETH=1"]
        paid_in(place, bakery, "USDC_SETH", "15.00" if why == "worth" else "5000.00")
        gas_costs(place, 2)
        self.signed(place)
        self.minutes_pass()
        if why == "bounded":
            monkeypatch.setattr(sweep_top_ups, "TOP_UPS_MAX", 0)
        gas_costs(place, 140 if why == "worth" else 40)
        assert sweeper.sweep_due() == sweeper.SweepCounts()
        assert len(rows("sweep_gas")) == 1
