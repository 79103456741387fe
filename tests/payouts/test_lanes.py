"""What waits holds up nobody else: other stores, other coins, sweeps and their gas go on, and the
wallet fetches what it lacks."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from apps.assets.models import Chain
from apps.chain.models import Address, Deposit, OutgoingTransaction
from apps.chain.sending import sender, signing_rounds, sweeper
from apps.core import buckets, clock
from apps.core.models import RowFailure
from apps.ledger.selectors import balances
from apps.payments.services.sweep_books import book_sweeps
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from tests import make
from tests.cast import Cast, Shop
from tests.chain.conftest import chain, proxy, watcher
from tests.chain.local import FORWARDER
from tests.chain.test_deposits import CONTRACT
from tests.swaps.conftest import DOLLAR, ETHER, Venue, is_exact, place
from tests.swaps.test_sweeps import paid_in

__all__ = ["chain", "place", "proxy", "watcher"]
pytestmark = pytest.mark.chain
CROWD = 215


def rounds(place: Venue, count: int) -> None:
    """What the worker does in so many rounds."""
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
    """What waits may be looked at again."""
    OutgoingTransaction.objects.filter(not_before__isnull=False).update(
        not_before=clock.real_now() - timedelta(seconds=seconds)
    )


@pytest.fixture
def strangers(cast: Cast) -> Shop:
    return cast.strangers


@pytest.fixture
def crowded(request: pytest.FixtureRequest, place: Venue, bakery: Shop) -> list[dict[str, Any]]:
    """Alice asks for many payouts of a dollar each, and the wallet holds three dollars."""
    count = getattr(request, "param", 12)
    place.fund_hot(50, dollars=3)
    make.store_coins(bakery.store, "USDC_SETH", count * DOLLAR)
    made = []
    for number in range(count):
        if number % 100 == 0:
            # as if a minute had passed: more than its budget at once is refused
            buckets.client().flushdb()
        made.append(make.payout(bakery.test, DOLLAR, asset_id="USDC_SETH"))
    return made


@pytest.mark.parametrize("crowded", [CROWD], indirect=True)
def test_a_crowd_of_small_payouts_that_wait_for_coins_holds_up_no_other_store_or_coin(
    place: Venue, crowded: list[dict[str, Any]], strangers: Shop
) -> None:
    rounds(place, 1)
    make.store_coins(strangers.store, "SETH", ETHER)
    innocent = make.payout(strangers.test, ETHER // 2)
    rounds(place, 2)
    assert status(innocent) == "confirmed"
    assert sum(status(item) == "confirmed" for item in crowded) == 3
    assert {status(item) for item in crowded} == {"confirmed", "pending"}


def test_stores_take_turns_at_the_coins_that_there_are(
    place: Venue, crowded: list[dict[str, Any]], strangers: Shop
) -> None:
    make.store_coins(strangers.store, "USDC_SETH", DOLLAR)
    late = make.payout(strangers.test, DOLLAR, asset_id="USDC_SETH")
    for _ in range(3):
        advance_payouts()
    rounds(place, 1)
    assert status(late) == "confirmed"


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
    rounds(place, 4)
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
    assert sweeper.sweep_due() == sweeper.Swept(), "nobody needs it yet"
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


def test_a_payout_says_that_it_waits_for_funds_when_there_are_none_to_fetch(
    place: Venue, crowded: list[dict[str, Any]], bakery: Shop
) -> None:
    rounds(place, 2)
    told = {
        make.detail_of_payout(bakery.test, item["id"])["pending_reason"]
        for item in crowded
        if status(item) == "pending"
    }
    assert told == {"waiting_for_funds"}
    place.chain.mint(place.token, place.hot, 1000 * DOLLAR)
    time_passes()
    rounds(place, 6)
    assert {status(item) for item in crowded} == {"confirmed"}


# Where a payout may meet an error of its own, step by step: the table, and which change of it the
# database refuses.
PLACES = {
    "handed over": ("chain_outgoingtransaction", "INSERT", "NEW.reference LIKE '{id}%'"),
    "told as sent": (
        "payouts_payout",
        "UPDATE",
        "NEW.id::text = '{id}' AND NEW.status = 'submitted'",
    ),
    "confirmed": ("payouts_payout", "UPDATE", "NEW.id::text = '{id}' AND NEW.status = 'confirmed'"),
}


@pytest.fixture
def broken(
    request: pytest.FixtureRequest, place: Venue, bakery: Shop
) -> tuple[dict[str, Any], str]:
    """A payout that the database refuses to bring further than there, the first in line; and how to
    make it whole."""
    table, event, condition = PLACES[request.param]
    place.fund_hot(50)
    place.chain.call("anvil_setBalance", place.hot, hex(58 * ETHER))
    place.chain.call(
        "evm_setAutomine", False
    )  # a block of its own for each would confirm the first at once
    make.store_coins(bakery.store, "SETH", 4 * ETHER)
    bad = make.payout(bakery.test, ETHER)
    name = f"broken_{uuid.uuid4().hex}"
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION"
            f" 'a row that raises'; END $$;CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH"
            f" ROW WHEN ({condition.format(id=bad['id'])}) EXECUTE FUNCTION {name}()"
        )
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return bad, f"DROP FUNCTION {name} CASCADE"


@pytest.mark.parametrize("broken", PLACES, indirect=True)
def test_one_that_can_not_go_on_with_the_others_stays_behind_alone(
    place: Venue,
    broken: tuple[dict[str, Any], str],
    bakery: Shop,
    strangers: Shop,
    caplog: pytest.LogCaptureFixture,
) -> None:
    bad, mend = broken
    make.store_coins(strangers.store, "SETH", 4 * ETHER)
    good = [make.payout(shop.test, ETHER) for shop in (bakery, strangers, bakery)]
    rounds(place, 2)
    assert "payouts_not_advanced_together" in caplog.text
    assert {status(item) for item in good} == {"confirmed"} and status(bad) != "confirmed"
    failure = RowFailure.objects.get(job="payouts.advance")
    assert failure.row_id == bad["id"] and failure.dead_at is None

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(mend)
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    RowFailure.objects.update(not_before=clock.real_now())
    rounds(place, 2)
    assert (
        status(bad) == "confirmed"
        and OutgoingTransaction.objects.filter(purpose="payout").count() == 4
    )
    assert is_exact()
