"""The store that causes a cost bears it, and no store uses up another's room at the signer."""

from typing import Any

import pytest

from apps.assets.services import accept_all_active
from apps.chain.models import OutgoingTransaction
from apps.ledger.selectors import account_balance, balances
from apps.payments.models import Payment, PaymentAddress, Refund
from apps.payments.services.expire import expire_due
from apps.payments.services.refund_progress import advance_refunds
from apps.payouts.models import Payout
from apps.payouts.services.retry import give_up_payout
from tests import make
from tests.cast import Shop, person, shop_of
from tests.payouts.test_lanes import rounds, status
from tests.swaps.conftest import ETHER, Venue, is_exact
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_sweeps import paid_in

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
ground = ground_of()
# Takes coins for nothing when nobody pays for gas, as in an estimate, and burns all its gas when it
# is mined.
TRAP = "0x" + "7a" * 20
TRAP_CODE = "0x3a600557005bfe"
TENTH = ETHER // 10


@pytest.fixture
def strangers(db: None) -> Shop:
    return shop_of(person("charlie"), "Charlie's")


@pytest.fixture
def trap(place: Venue, bakery: Shop) -> str:
    place.fund_hot(50)
    place.chain.call("anvil_setCode", TRAP, TRAP_CODE)
    return TRAP


def give(place: Venue, shop: Shop, amount_atomic: int) -> None:
    """Coins that the store can spend, in the books and in the hot wallet."""
    make.store_coins(shop.store, "SETH", amount_atomic)
    place.chain.call("anvil_setBalance", place.hot, hex(place.native(place.hot) + amount_atomic))


def pay_the_trap(place: Venue, shop: Shop, amount_atomic: int = TENTH) -> Payout:
    made = make.payout(shop.test, amount_atomic, destination_address=TRAP)
    rounds(place, 1)
    return Payout.objects.get(pk=made["id"])


class TestGasOfAttemptsInVain:
    def test_the_store_that_asked_is_charged_what_is_burnt_and_twice_in_vain_is_enough(
        self, place: Venue, trap: str, bakery: Shop, settings: Any
    ) -> None:
        """Gas that the recipient burns is bounded, and after so many failures it gets no more
        today."""
        settings.PAYOUT_FAILURES_MAX = 2
        give(place, bakery, ETHER)
        payout = pay_the_trap(place, bakery)
        sent = OutgoingTransaction.objects.get(purpose="payout")
        assert (payout.status, payout.failure_reason, sent.gas_limit) == (
            "failed",
            "The chain reverted it",
            settings.SIGNER_CONTRACT_GAS,
        )
        assert payout.failed_gas_atomic == sent.network_fee_atomic > 0
        held = balances(bakery.store.pk, "test")["SETH"]
        assert (held.available_atomic, held.reserved_atomic) == (
            ETHER - TENTH - sent.network_fee_atomic,
            TENTH,
        )
        assert account_balance(None, "test", "SETH", "network_fees") == 0
        told = make.detail_of_payout(bakery.test, str(payout.pk))
        assert told["failed_gas_charged_atomic"] == str(sent.network_fee_atomic)
        pay_the_trap(place, bakery)
        refused = make.ask_payout(bakery.test, str(TENTH), destination_address=trap)
        assert (refused.status_code, refused.json()["error"][:36]) == (
            422,
            "Payouts to this destination have fai",
        )
        assert make.ask_payout(bakery.test, str(TENTH)).status_code == 201
        assert is_exact()

    def test_what_the_store_has_not_got_is_taken_when_the_coins_come_back(
        self, place: Venue, trap: str, bakery: Shop
    ) -> None:
        give(place, bakery, TENTH)
        payout = pay_the_trap(place, bakery)
        assert (payout.failed_gas_atomic, payout.funds) == (0, "reserved")
        give_up_payout(payout)
        payout.refresh_from_db()
        fee = OutgoingTransaction.objects.get(purpose="payout").network_fee_atomic
        assert (payout.failed_gas_atomic, payout.failed_gas_due_atomic) == (fee, 0)
        assert balances(bakery.store.pk, "test")["SETH"].available_atomic == TENTH - fee
        assert is_exact()


class TestRoomAtTheSigner:
    def test_a_store_that_has_used_its_day_holds_up_no_other(
        self, place: Venue, bakery: Shop, strangers: Shop, settings: Any
    ) -> None:
        settings.SIGNER_CAPS = ["SETH=10:1"]
        place.fund_hot(50)
        for shop in (bakery, strangers):
            give(place, shop, 5 * ETHER)
        first, beyond, below = (
            make.payout(bakery.test, amount) for amount in (8 * TENTH, 5 * TENTH, 2 * TENTH)
        )
        other = make.payout(strangers.test, 9 * TENTH)
        rounds(place, 1)
        assert [status(item) for item in (first, beyond, below, other)] == [
            "confirmed",
            "requires_review",
            "confirmed",
            "confirmed",
        ]
        assert (
            Payout.objects.get(pk=beyond["id"]).review_reason == "It is above the limit of one day"
        )

    def test_what_came_in_may_go_out_and_what_goes_back_to_its_payer_counts_for_nothing(
        self, place: Venue, bakery: Shop, settings: Any
    ) -> None:
        settings.SIGNER_CAPS = ["SETH=10:0.001"]
        place.fund_hot(50)
        paid_in(place, bakery, "SETH", "900.00")
        whole = balances(bakery.store.pk, "test")["SETH"].available_atomic
        accept_all_active(bakery.store)
        back = make.payment(bakery.test, amount="900.00")
        entry = PaymentAddress.objects.get(payment_id=back["id"], asset_id="SETH")
        place.chain.pay(entry.address_id, entry.required_atomic // 2)
        place.work()
        Payment.objects.filter(pk=back["id"]).update(expires_at="2020-01-01T00:00:00Z")
        expire_due()
        payout = make.payout(bakery.test, whole)
        Payout.objects.update(is_simulated=False)
        advance_refunds()
        rounds(place, 1)
        advance_refunds()
        assert (status(payout), Refund.objects.get().status) == ("confirmed", "confirmed")
        assert OutgoingTransaction.objects.get(purpose="refund").goes_back
        assert is_exact()
