"""Payouts that wait hold up nobody else: other stores, other coins, sweeps and their gas go on, and
the wallet fetches what it lacks."""

import uuid
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from apps.assets.models import Chain, Rate
from apps.chain.models import Address, Deposit, OutgoingTransaction
from apps.chain.sending import following_many, lanes, sender, signing_rounds, sweeper
from apps.core import clock
from apps.core.models import RowFailure
from apps.ledger.selectors import balances
from apps.payments.services.sweep_books import book_sweeps
from apps.payouts.models import Payout
from apps.payouts.services.progress import PayoutFollower, advance_payouts
from tests import make
from tests.cast import Shop, person, shop_of
from tests.chain.local import FORWARDER
from tests.chain.test_deposits import CONTRACT
from tests.swaps.conftest import DOLLAR, ETHER, Venue, is_exact
from tests.swaps.ground import bakery, ground_of, place
from tests.swaps.test_sweeps import paid_in

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
ground = ground_of()
CROWD = 8


def rounds(place: Venue, count: int) -> None:
    """Run so many rounds of the worker."""
    for _ in range(count):
        advance_payouts()
        sweeper.sweep_due()
        signing_rounds.sign_due()
        sender.run_due()
        advance_payouts()
        place.chain.mine(Chain.objects.get(pk="sepolia").required_confirmations)
        place.reader.read()
        sender.run_due()
        book_sweeps()
        advance_payouts()


def status(payout: dict[str, Any]) -> str:
    return str(Payout.objects.get(pk=payout["id"]).status)


def time_passes(seconds: int = 120) -> None:
    """Let time pass until payouts that wait are taken again."""
    OutgoingTransaction.objects.filter(not_before__isnull=False).update(
        not_before=clock.real_now() - timedelta(seconds=seconds)
    )


@pytest.fixture
def strangers(db: None) -> Shop:
    return shop_of(person("charlie"), "Charlie's")


@pytest.fixture
def crowded(place: Venue, bakery: Shop) -> list[dict[str, Any]]:
    """Alice asks for many payouts of a dollar each, and the wallet holds three dollars."""
    place.fund_hot(50, dollars=3)
    make.store_coins(bakery.store, "USDC_SETH", CROWD * DOLLAR)
    return [make.payout(bakery.test, DOLLAR, asset_id="USDC_SETH") for _ in range(CROWD)]


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer in a batch of any step than there are in the crowd."""
    monkeypatch.setattr(following_many, "BATCH_MAX", CROWD - 2)
    monkeypatch.setattr(lanes, "JOB", replace(lanes.JOB, limit=CROWD - 2))
    monkeypatch.setattr(PayoutFollower, "job", replace(PayoutFollower.job, limit=CROWD - 2))


@pytest.mark.usefixtures("few_at_once")
def test_a_crowd_of_small_payouts_that_wait_for_coins_holds_up_nobody_and_says_that_it_waits(
    place: Venue, crowded: list[dict[str, Any]], bakery: Shop, strangers: Shop
) -> None:
    """Stores take turns at the coins that there are, and another coin isn't waited for."""
    make.store_coins(strangers.store, "USDC_SETH", DOLLAR)
    late = make.payout(strangers.test, DOLLAR, asset_id="USDC_SETH")
    rounds(place, 1)
    assert status(late) == "confirmed"

    make.store_coins(strangers.store, "SETH", ETHER)
    innocent = make.payout(strangers.test, ETHER // 2)
    rounds(place, 2)
    assert status(innocent) == "confirmed"
    assert Counter(status(item) for item in crowded) == {"confirmed": 2, "pending": CROWD - 2}
    told = {
        make.detail_of_payout(bakery.test, item["id"])["pending_reason"]
        for item in crowded
        if status(item) == "pending"
    }
    assert told == {"waiting_for_funds"}

    place.chain.mint(place.token, place.hot, 1000 * DOLLAR)
    time_passes()
    rounds(place, 3)
    assert {status(item) for item in crowded} == {"confirmed"}


def test_payouts_whose_fee_nobody_can_say_hold_up_no_others(
    place: Venue, bakery: Shop, strangers: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many of them as fit into a batch, and older."""
    monkeypatch.setattr(following_many, "BATCH_MAX", 1)
    place.fund_hot(50, dollars=100)
    make.store_coins(bakery.store, "USDC_SETH", 2 * DOLLAR)
    stuck = [make.payout(bakery.test, DOLLAR, asset_id="USDC_SETH") for _ in range(2)]
    Payout.objects.update(bears_network_fee=True, is_simulated=False)
    Rate.objects.filter(asset="USDC_SETH").delete()
    make.store_coins(strangers.store, "SETH", ETHER)
    late = [make.payout(strangers.test, ETHER // 4) for _ in range(2)]
    rounds(place, 1)
    assert [status(item) for item in (*stuck, *late)] == ["pending"] * 2 + ["confirmed"] * 2


def test_a_short_wallet_fetches_what_is_on_deposit_addresses_whatever_the_minimum(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    settings.SWEEP_MINIMUMS = ["USDC_SETH=10000", "SETH=10000"]
    place.fund_hot(1, dollars=100)
    paid_in(place, bakery, "USDC_SETH")
    whole = balances(bakery.store.pk, "test")["USDC_SETH"].available_atomic
    payout = make.payout(bakery.test, whole, asset_id="USDC_SETH")
    Payout.objects.filter(pk=payout["id"]).update(is_simulated=False)
    rounds(place, 2)
    assert make.detail_of_payout(bakery.test, payout["id"])["pending_reason"] == "waiting_for_sweep"
    rounds(place, 2)
    assert status(payout) == "confirmed" and is_exact()
    assert make.detail_of_payout(bakery.test, payout["id"])["pending_reason"] is None


def test_native_coins_are_fetched_too_and_what_a_contract_sends_meanwhile_is_found(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    settings.SWEEP_MINIMUMS = ["SETH=0.01"]
    place.fund_hot(1)
    address = paid_in(place, bakery, "SETH", "9000.00")
    Address.objects.filter(pk=address).update(
        watch_balance_until=clock.real_now() + timedelta(days=1)
    )
    assert sweeper.sweep_due() == sweeper.SweepCounts(), "nobody needs it yet"
    whole = balances(bakery.store.pk, "test")["SETH"].available_atomic
    assert whole > 2 * ETHER
    payout = make.payout(bakery.test, whole)
    Payout.objects.filter(pk=payout["id"]).update(is_simulated=False)
    place.chain.put(FORWARDER, CONTRACT)
    for _ in range(2):
        advance_payouts()
        signing_rounds.sign_due()
        sweeper.sweep_due()
        signing_rounds.sign_due()
        sender.run_due()
    assert place.native(address) < ETHER // 100, "the sweep is mined"
    place.chain.through(CONTRACT, 55, address)
    for _ in range(3):
        time_passes()
        place.chain.mine(10)
        place.reader.read()
        rounds(place, 2)
    assert status(payout) == "confirmed"
    assert Deposit.objects.get(address=address, log_index__lt=-1).amount_atomic == 55
    assert is_exact()


# Where a payout may meet an error of its own, step by step: the table, and which change of it the
# database refuses.
PLACES = {
    "ask": ("chain_outgoingtransaction", "INSERT", "NEW.reference LIKE '{id}%'"),
    "submit": ("payouts_payout", "UPDATE", "NEW.id::text = '{id}' AND NEW.status = 'submitted'"),
    "confirm": ("payouts_payout", "UPDATE", "NEW.id::text = '{id}' AND NEW.status = 'confirmed'"),
}


def run_at_once(statement: str) -> None:
    """A change of triggers, which nothing deferred may wait for."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(statement)
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def broken(payout_id: str, place_of_error: str) -> str:
    """The database refuses to bring a payout further than there; the statement that mends it."""
    table, event, condition = PLACES[place_of_error]
    name = f"broken_{uuid.uuid4().hex}"
    run_at_once(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION"
        f" 'a row that raises'; END $$;CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH"
        f" ROW WHEN ({condition.format(id=payout_id)}) EXECUTE FUNCTION {name}()"
    )
    return f"DROP FUNCTION {name} CASCADE"


def test_those_that_can_not_go_on_with_the_others_stay_behind_alone(
    place: Venue, bakery: Shop, strangers: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    """One at each step, the first in line."""
    place.fund_hot(50)
    place.chain.call("anvil_setBalance", place.hot, hex(60 * ETHER))
    # A block of its own for each would confirm the first at once.
    place.chain.call("evm_setAutomine", False)
    for shop in (bakery, strangers):
        make.store_coins(shop.store, "SETH", 5 * ETHER)
    bad = [str(make.payout(bakery.test, ETHER)["id"]) for _ in PLACES]
    mends = [broken(*pair) for pair in zip(bad, PLACES, strict=True)]
    good = [make.payout(shop.test, ETHER) for shop in (bakery, strangers)]

    rounds(place, 2)

    failed = [line for line in caplog.text.splitlines() if "payouts_not_advanced_together" in line]
    for step in PLACES:
        assert any(f"'{step}'" in line for line in failed), step
    assert {status(item) for item in good} == {"confirmed"}
    assert [Payout.objects.get(pk=id).status for id in bad] == ["pending", "pending", "submitted"]
    failures = RowFailure.objects.filter(job="payouts.advance")
    assert set(failures.values_list("row_id", "dead_at")) == {(id, None) for id in bad}

    for mend in mends:
        run_at_once(mend)
    RowFailure.objects.update(not_before=clock.real_now())
    rounds(place, 2)
    assert set(Payout.objects.values_list("status", flat=True)) == {"confirmed"}
    assert OutgoingTransaction.objects.filter(purpose="payout").count() == 5
    assert is_exact()
