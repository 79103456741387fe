"""Tests of payouts take out what they have committed, and nothing else."""

from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from tests import auditing, make
from tests.cast import Cast
from tests.taken_out import committed_cast


def test_what_a_sweep_has_booked_for_others_stays(committed: Cast) -> None:
    bakery = committed.bakery
    make.store_coins(bakery.store, "SETH", 10**18)
    left_open = make.payout(bakery.test, 10**17)["id"]
    with committed_cast() as cast:
        make.store_coins(cast.bakery.store, "SETH", 10**18)
        make.payout(cast.bakery.test, 10**17)
        advance_payouts()
        make.advance(bakery.test, 61)
        advance_payouts()
    assert Payout.objects.get(pk=left_open).funds == "paid"
    assert not Payout.objects.filter(store=cast.bakery.store).exists()
    assert auditing.breaches() == []
