"""Litecoin of ours that goes back to the hot wallet: change that lifts what is stuck, and many
small coins made one; each booked for its fee to the unit."""

from datetime import timedelta
from typing import Any

import pytest

from apps.chain.models import (
    CoinRecord,
    HotWallet,
    OutgoingTransaction,
    SpendCandidate,
    SpendRecord,
)
from apps.chain.sending import coin_joins, coin_purse, sender, signing_rounds, sweeper
from apps.ledger.chart import CUSTODY_DEPOSITS, CUSTODY_HOT
from apps.ledger.models import Movement
from apps.ledger.selectors import account_balance
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from tests import make
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_paying import CHAIN, Reading
from tests.bitcoin.test_sending import apart, findings, held_in, paid_in, reading, rounds
from tests.bitcoin.wallet import OurWallet

__all__ = ["reading"]
pytestmark = pytest.mark.litecoin
PAID = 2_000_000
# In no wallet of the node, which sends what its wallets have again when it starts.
STRANGER = OurWallet(78)


def pay_out(litecoin: Litecoin, reading: Reading, amount: int = PAID) -> str:
    """Signed and sent; the hash under which it waits."""
    before = set(litecoin.waiting)
    goal = STRANGER.address(Payout.objects.count())
    make.payout(reading.shop.test, amount, asset_id="TLTC", destination_address=goal)
    advance_payouts()
    signing_rounds.sign_due()
    sender.run_due()
    [waiting] = set(litecoin.waiting) - before
    return waiting


def an_hour_passes() -> None:
    for row in SpendCandidate.objects.all():
        row.signed_at -= timedelta(hours=1)
        row.broadcast_at = row.broadcast_at and row.broadcast_at - timedelta(hours=1)
        row.save()


def work() -> None:
    """A round of signer and worker."""
    signing_rounds.sign_due()
    sender.run_due()
    sweeper.sweep_due()
    signing_rounds.sign_due()
    sender.run_due()


def stuck(litecoin: Litecoin, reading: Reading) -> str:
    """A payout that nodes don't take a replacement of, and that was lifted since; its hash."""
    tx_hash = pay_out(litecoin, reading)
    an_hour_passes()
    work()
    return tx_hash


def joins() -> list[OutgoingTransaction]:
    return list(OutgoingTransaction.objects.filter(purpose="join").order_by("requested_at"))


def rate_of(litecoin: Litecoin, *hashes: str) -> float:
    entries = [litecoin.ask("getmempoolentry", tx_hash) for tx_hash in hashes]
    return sum(each["fees"]["base"] for each in entries) / sum(each["vsize"] for each in entries)


def network_fees() -> int:
    return -account_balance(None, "test", "TLTC", "network_fees")


def test_change_lifts_a_payout_that_nobody_replaces_and_both_fees_are_booked(
    litecoin: Litecoin, reading: Reading
) -> None:
    left = apart()
    brought = paid_in(litecoin, reading)
    tx_hash = pay_out(litecoin, reading)
    before = rate_of(litecoin, tx_hash)
    an_hour_passes()
    work()
    work()
    [child] = set(litecoin.waiting) - {tx_hash}
    assert rate_of(litecoin, tx_hash, child) > before
    [join] = joins()
    assert (join.tx_hash, join.to_address) == (child, HotWallet.objects.get(chain=CHAIN).address)
    rounds(litecoin, reading)
    payout = OutgoingTransaction.objects.get(purpose="payout")
    [join] = joins()
    fees = {row.tx_hash: row.fee_atomic for row in SpendCandidate.objects.all()}
    assert (payout.status, payout.network_fee_atomic) == ("confirmed", fees[tx_hash])
    assert (join.handled_status, join.network_fee_atomic) == ("confirmed", fees[child])
    assert network_fees() == fees[tx_hash] + fees[child]
    assert held_in(CUSTODY_DEPOSITS) == 0
    assert held_in(CUSTODY_HOT) == brought - PAID - fees[tx_hash] - fees[child]
    assert (findings(), apart()) == ([], left)
    assert Movement.objects.filter(kind="coins_joined").count() == 1


def test_change_that_lifts_is_spent_by_nothing_else(litecoin: Litecoin, reading: Reading) -> None:
    """A block has what was stuck, and not yet what lifted it."""
    brought = paid_in(litecoin, reading)
    tx_hash = stuck(litecoin, reading)
    [child] = set(litecoin.waiting) - {tx_hash}
    litecoin.mine_without(child, 2)
    reading.read()
    sender.run_due()
    assert OutgoingTransaction.objects.get(purpose="payout").status == "confirmed"
    wallet = HotWallet.objects.get(chain=CHAIN)
    [change] = CoinRecord.objects.filter(is_deposit=False, spent_by="")
    assert (change.tx_hash, coin_purse.free(wallet.chain)) == (tx_hash, 0)
    rounds(litecoin, reading)
    assert [join.status for join in joins()] == ["confirmed"]
    assert coin_purse.free(wallet.chain) == held_in(CUSTODY_HOT) < brought - PAID
    # Taken back and mined again, the coin is no one else's meanwhile.
    litecoin.take_back(2)
    litecoin.mine_without(child, 3)
    reading.read()
    assert coin_purse.free(wallet.chain) == 0
    rounds(litecoin, reading, 2)
    assert SpendRecord.objects.filter(ended_at=None).count() == 0
    assert wallet.halted_at is None


def test_what_lifts_is_lifted_when_it_is_stuck_too(litecoin: Litecoin, reading: Reading) -> None:
    left = apart()
    paid_in(litecoin, reading)
    stuck(litecoin, reading)
    for _ in range(coin_joins.LIFTS_MAX + 1):
        an_hour_passes()
        work()
    assert len(joins()) == coin_joins.LIFTS_MAX
    assert len(litecoin.waiting) == 1 + coin_joins.LIFTS_MAX
    rounds(litecoin, reading)
    assert {join.handled_status for join in joins()} == {"confirmed"}
    assert (findings(), apart()) == ([], left)


def test_what_lifted_bytes_that_are_never_mined_is_given_up(
    litecoin: Litecoin, reading: Reading, settings: Any
) -> None:
    """The node has forgotten what waited, and has taken the replacement first."""
    left = apart()
    paid_in(litecoin, reading)
    stuck(litecoin, reading)
    refused = SpendRecord.objects.order_by("pk")[0].candidates.last()
    assert refused is not None
    litecoin.forget()
    settings.CHAIN_URLS = {CHAIN: [litecoin.url]}
    reading.restart()
    litecoin.send(refused.raw)
    rounds(litecoin, reading)
    payout = OutgoingTransaction.objects.get(purpose="payout")
    assert (payout.status, payout.tx_hash) == ("confirmed", refused.tx_hash)
    assert [join.status for join in joins()] == ["failed"]
    assert network_fees() == payout.network_fee_atomic
    assert (findings(), apart()) == ([], left)
    pay_out(litecoin, reading)
    rounds(litecoin, reading)
    assert set(Payout.objects.values_list("status", flat=True)) == {"confirmed"}


@pytest.mark.parametrize("planted", ["size", "fee_atomic", "change_address", "coin", "raw"])
def test_what_lifts_costs_by_what_our_keys_have_signed(
    litecoin: Litecoin, reading: Reading, planted: str
) -> None:
    """A role that may write records of spends without the keys burns nothing with them."""
    paid_in(litecoin, reading)
    pay_out(litecoin, reading)
    an_hour_passes()
    work()
    sweeper.sweep_due()
    [join] = joins()[-1:]
    OutgoingTransaction.objects.filter(pk=join.pk).update(status="requested", spend=None)
    SpendRecord.objects.filter(pk=join.spend_id).update(ended_at=join.requested_at)
    parent = SpendCandidate.objects.earliest("pk")
    if planted == "raw":
        parent.raw = SpendCandidate.objects.latest("pk").raw
    elif planted == "coin":
        parent.plan["coins"][0][2] = STRANGER.address(7)
    else:
        wrong = {"size": 10**6, "fee_atomic": "1", "change_address": STRANGER.change}
        parent.plan[planted] = wrong[planted]
    parent.save()
    signing_rounds.sign_due()
    join.refresh_from_db()
    assert (join.status, join.reason_code) == ("failed", "nothing_to_join")


def test_staff_are_told_of_what_neither_a_replacement_nor_its_change_helps(
    litecoin: Litecoin, reading: Reading, caplog: pytest.LogCaptureFixture
) -> None:
    brought = [paid_in(litecoin, reading, amount) for amount in ("100.00", "60.00")]
    pay_out(litecoin, reading, brought[0] - 3_000)  # no change
    assert "spend_stuck" not in caplog.text
    an_hour_passes()
    an_hour_passes()
    work()
    assert "spend_stuck" in caplog.text
    assert joins() == []
    rounds(litecoin, reading)
    assert Payout.objects.get().status == "confirmed"


def test_many_small_coins_become_one_while_fees_are_low(
    litecoin: Litecoin, reading: Reading, monkeypatch: Any
) -> None:
    monkeypatch.setattr(coin_joins, "JOINED_FROM", 4)
    monkeypatch.setattr(coin_joins, "KEPT", 1)
    left = apart()
    brought = [paid_in(litecoin, reading, f"{30 + number}.00") for number in range(4)]
    work()
    [join] = joins()
    assert join.amount_atomic == sum(brought[:3])
    rounds(litecoin, reading)
    work()  # there aren't so many any more
    [join] = joins()
    assert join.handled_status == "confirmed" and join.network_fee_atomic > 0
    assert OutgoingTransaction.objects.filter(purpose="sweep").count() == 3
    one = CoinRecord.objects.get(is_deposit=False)
    assert one.amount_atomic == sum(brought[:3]) - join.network_fee_atomic
    assert (held_in(CUSTODY_HOT), held_in(CUSTODY_DEPOSITS)) == (one.amount_atomic, brought[3])
    assert network_fees() == join.network_fee_atomic
    assert (findings(), apart()) == ([], left)


def test_coins_are_not_joined_while_somebody_waits_for_them(
    litecoin: Litecoin, reading: Reading, monkeypatch: Any
) -> None:
    monkeypatch.setattr(coin_joins, "JOINED_FROM", 2)
    monkeypatch.setattr(coin_joins, "KEPT", 0)
    for _ in range(2):
        paid_in(litecoin, reading)
    goal = litecoin.faucet("getnewaddress")
    make.payout(reading.shop.test, PAID, asset_id="TLTC", destination_address=goal)
    advance_payouts()
    sweeper.sweep_due()
    assert joins() == []
