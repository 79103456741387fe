"""Sweeps: what customers paid goes from deposit addresses to the hot wallet, to the unit and never
twice."""

import json
from contextlib import closing
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from apps.assets.models import Asset, Chain
from apps.assets.services import accept_all_active
from apps.chain.models import (
    Address,
    Deposit,
    HotWallet,
    OutgoingTransaction,
    UnmatchedTransfer,
)
from apps.chain.nodes import nodes_of
from apps.chain.sending import limits, sender, signing_rounds, sweep_costs, sweeper
from apps.chain.sending.sweep_finds import Found
from apps.core import clock
from apps.ledger.selectors import account_balance
from apps.payments.models import Payment, PaymentAddress
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.services.settle import settle_deposits
from apps.payments.services.sweep_books import book_sweeps
from tests import make
from tests.cast import Shop
from tests.swaps.conftest import ETHER, Venue, is_exact
from tests.swaps.ground import bakery, ground_of, place

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain


def paid_in(place: Venue, shop: Shop, asset_id: str, amount: str = "500.00") -> str:
    """The address of a payment that a customer paid on the chain, old enough to be swept."""
    accept_all_active(shop.store)
    payment = make.payment(shop.test, amount=amount)
    entry = PaymentAddress.objects.get(payment_id=payment["id"], asset_id=asset_id)
    if asset_id == "SETH":
        place.chain.pay(entry.address_id, entry.required_atomic)
    else:
        place.chain.mint(place.token, entry.address_id, entry.required_atomic)
    place.arrives()
    assert Payment.objects.get(pk=payment["id"]).status == "completed"
    watched_until(entry.address_id, hours=-1)
    return str(entry.address_id)


def paid(place: Venue, shop: Shop) -> None:
    """A payment in coins, whose address is still watched, and a coin in the hot wallet."""
    place.fund_hot(1)
    watched_until(paid_in(place, shop, "SETH"), hours=1)


ground = ground_of(paid)


def watched_until(address: str, *, hours: int) -> None:
    Address.objects.filter(pk=address).update(
        watch_balance_until=clock.real_now() + timedelta(hours=hours)
    )


def due() -> str:
    """The address that was paid, which may be swept now."""
    address = str(Deposit.objects.get(asset="SETH").address_id)
    watched_until(address, hours=-1)
    return address


def amount_at(address: str) -> int:
    return int(Deposit.objects.get(address=address).amount_atomic)


def test_coins_go_to_the_hot_wallet_but_for_what_gas_may_cost_and_again_when_more_has_come(
    place: Venue,
) -> None:
    address = due()
    assert sweeper.sweep_due() == sweeper.SweepCounts(sweeps=1)
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    place.work()
    row = OutgoingTransaction.objects.get(purpose="sweep")
    assert (row.status, row.handled_status, row.from_address, row.to_address, row.nonce) == (
        "confirmed",
        "confirmed",
        address,
        place.hot,
        0,
    )
    assert place.native(place.hot) == ETHER + row.amount_atomic
    assert place.native(address) == amount_at(address) - row.amount_atomic - row.network_fee_atomic
    assert account_balance(None, "test", "SETH", "custody_deposits") == -place.native(address)
    assert is_exact()

    place.chain.pay(address, ETHER)
    place.arrives()
    output = StringIO()
    call_command("sweep", "--json", stdout=output)
    assert json.loads(output.getvalue()) == {"sweeps": 1, "gas_transfers": 0, "batches": 0}
    place.work()
    assert sorted(
        OutgoingTransaction.objects.filter(purpose="sweep").values_list("nonce", "status")
    ) == [
        (0, "confirmed"),
        (1, "confirmed"),
    ]
    assert is_exact()


def test_tokens_get_their_gas_from_the_hot_wallet_first_and_it_is_nobodys_payment(
    place: Venue, bakery: Shop
) -> None:
    address = paid_in(place, bakery, "USDC_SETH")
    assert sweeper.sweep_due() == sweeper.SweepCounts(sweeps=1, gas_transfers=1)
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    place.work()
    assert place.native(address) > 0 and is_exact()
    place.work()
    assert (place.tokens(place.hot), place.tokens(address)) == (amount_at(address), 0)
    assert is_exact()
    assert (
        Deposit.objects.filter(address=address).count() == 1
        and not UnmatchedTransfer.objects.exists()
    )


def test_what_is_small_simulated_watched_or_not_yet_booked_stays(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    unbooked = due()
    small = paid_in(place, bakery, "SETH", "5.00")
    make.paid(bakery.test, amount="900.00")
    watched = paid_in(place, bakery, "SETH")
    watched_until(watched, hours=1)
    Deposit.objects.filter(address=unbooked).update(handled_status="confirming")
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    Deposit.objects.filter(address=unbooked).update(handled_status="confirmed")
    settings.SWEEP_MINIMUMS = ["SETH=0.0001"]
    assert sweeper.sweep_due() == sweeper.SweepCounts(
        sweeps=2 if place.native(small) > 10**15 else 1
    )
    settings.SWEEP_MINIMUMS = ["SETH=0.000001"]
    assert sweeper.sweep_due() == sweeper.SweepCounts()


def test_an_address_is_asked_about_again_once_more_arrives_there(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    settings.SWEEP_MINIMUMS = ["SETH=0.03"]
    address = paid_in(place, bakery, "SETH", "50.00")
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    assert not Deposit.objects.get(address=address).is_unswept

    place.chain.pay(address, 2 * 10**16)
    place.arrives()

    assert sweeper.sweep_due() == sweeper.SweepCounts(sweeps=1)
    assert OutgoingTransaction.objects.get(purpose="sweep").amount_atomic > 3 * 10**16


def test_a_refund_under_way_is_paid_from_the_hot_wallet_while_its_deposit_is_swept(
    place: Venue, bakery: Shop
) -> None:
    place.chain.call("anvil_setBalance", place.hot, hex(2 * ETHER))
    make.service_coins("SETH", ETHER)
    address = due()
    paid_in(place, bakery, "SETH", "900.00")
    payment_id = PaymentAddress.objects.get(address=address).payment_id
    asked = bakery.test.post(f"/payments/{payment_id}/refunds", {"refund": {}}, key="refund")
    assert asked.status_code == 201, asked.content
    assert sweeper.sweep_due().sweeps == 2
    advance_refunds()
    place.work()
    advance_refunds()
    assert bakery.test.get(f"/payments/{payment_id}/refunds").json()[0]["status"] == "confirmed"
    assert set(OutgoingTransaction.objects.values_list("purpose", "status")) == {
        ("refund", "confirmed"),
        ("sweep", "confirmed"),
    }
    assert is_exact()


def test_a_sweep_that_was_reverted_has_paid_its_gas_and_is_tried_again(
    place: Venue, bakery: Shop
) -> None:
    address = paid_in(place, bakery, "USDC_SETH")
    sweeper.sweep_due()
    place.work()
    signing_rounds.sign_due()
    code = place.chain.call("eth_getCode", place.token, "latest")
    place.chain.call("anvil_setCode", place.token, "0x60006000fd")
    sender.run_due()
    place.chain.mine(4)
    place.chain.call("anvil_setCode", place.token, code)
    place.chain.mine(4)
    place.reader.read()
    sender.run_due()
    book_sweeps()
    row = OutgoingTransaction.objects.get(purpose="sweep")
    assert (row.status, row.handled_status) == ("failed", "failed") and row.network_fee_atomic > 0
    assert is_exact()
    for _ in range(2):
        sweeper.sweep_due()
        place.work()
    assert place.tokens(place.hot) == amount_at(address)
    assert is_exact()


WRONG = [
    ({"to_address": "0x" + "77" * 20}, "A sweep goes to the hot wallet"),
    ({"from_address": "0x" + "77" * 20}, "It is no deposit address"),
    ({"call_data": "0x1234"}, "It is no transfer"),
    ({"mode": "live"}, "The asset belongs to another chain"),
]


def test_the_signer_empties_deposit_addresses_into_the_hot_wallet_only(place: Venue) -> None:
    address = due()
    sweeper.sweep_due()
    [asked] = OutgoingTransaction.objects.values()
    for change, reason in WRONG:
        OutgoingTransaction.objects.update(**{**asked, **change})
        signing_rounds.sign_due()
        row = OutgoingTransaction.objects.get()
        assert (row.status, row.reason) == ("failed", reason)
    place.work()
    assert place.native(address) == amount_at(address)


def test_no_other_purpose_reaches_a_deposit_address_nor_gas_anybody_else(
    place: Venue,
) -> None:
    ours = due()
    assert limits.is_refused_destination(ours, "refund", "test") and limits.is_refused_destination(
        ours, "swap", "test"
    )
    assert not limits.is_refused_destination(ours, "sweep_gas", "test")
    assert limits.is_refused_destination("0x" + "77" * 20, "sweep_gas", "test")
    assert limits.is_refused_destination(ours, "sweep_gas", "live")


def test_a_key_used_by_somebody_else_asks_a_person_and_halts_no_wallet(place: Venue) -> None:
    address = due()
    sweeper.sweep_due()
    place.chain.call("anvil_setNonce", address, "0x3")
    place.work()
    row = OutgoingTransaction.objects.get(purpose="sweep")
    assert (row.status, row.reason) == ("review", "The chain is at nonce 3, our records end at 0")
    assert sweeper.sweep_due() == sweeper.SweepCounts()


def test_a_stuck_sweep_offers_more_at_the_same_nonce(place: Venue, settings: Any) -> None:
    due()
    sweeper.sweep_due()
    place.chain.call("evm_setAutomine", False)
    signing_rounds.sign_due()
    sender.run_due()
    settings.SIGNER_STUCK_SECONDS = 0
    assert signing_rounds.sign_due() == 1
    sender.run_due()
    place.chain.call("evm_setAutomine", True)
    settings.SIGNER_STUCK_SECONDS = 180
    place.work()
    row = OutgoingTransaction.objects.get(purpose="sweep")
    assert (row.status, row.candidates.count(), row.tx_hash) == (
        "confirmed",
        2,
        row.candidates.last().tx_hash,
    )  # type: ignore[union-attr]
    settle_deposits()
    assert is_exact()


def test_what_was_fetched_from_an_address_isnt_looked_for_there_again(
    place: Venue, bakery: Shop, settings: Any
) -> None:
    settings.SWEEP_MINIMUMS = ["SETH=10000", "USDC_SETH=10000"]
    address = paid_in(place, bakery, "USDC_SETH")
    deposits = Deposit.objects.filter(address=address)
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    assert deposits.get().left_atomic == amount_at(address)
    chain = Chain.objects.get(pk="sepolia")
    wallets = list(HotWallet.objects.filter(chain=chain))
    coin = Asset.objects.get(pk="USDC_SETH")
    with closing(nodes_of(chain)) as nodes:
        sweep = sweeper._ChainSweep(chain, wallets, nodes, sweeper.SweepCounts())
        assert sweep._left.fullest(coin, clock.real_now()) == [(address, amount_at(address))]
        price = sweep_costs.price_on(chain, nodes)
        assert price is not None
        sweep._sweep_tokens(
            [Found(coin, address, amount_at(address), is_wanted=True)],
            Asset.objects.get(pk="SETH"),
            price,
            clock.real_now(),
        )
        for _ in range(2):
            assert sweep._left.fullest(coin, clock.real_now()) == []
            assert deposits.get().left_atomic == amount_at(address), "it may still fail"
            place.work()
        assert place.tokens(address) == 0
        assert sweep._left.fullest(coin, clock.real_now()) == []
    assert deposits.get().left_atomic == 0


def test_a_lower_minimum_looks_at_what_was_set_aside_before_amounts_were_kept(
    place: Venue, settings: Any
) -> None:
    settings.SWEEP_MINIMUMS = ["SETH=10000", "USDC_SETH=10000"]
    address = due()
    assert sweeper.sweep_due() == sweeper.SweepCounts()
    Deposit.objects.filter(address=address).update(left_atomic=None)
    settings.SWEEP_MINIMUMS = ["SETH=0.000001"]
    assert sweeper.sweep_due().sweeps == 1
