"""Litecoin that leaves: many payouts in one transaction, a refund to an address that the customer
names, and books that agree with the node."""

from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction

from apps.assets.models import Asset
from apps.audit import custody, verify
from apps.chain.models import (
    CoinRecord,
    Deposit,
    HotWallet,
    OutgoingTransaction,
    SpendCandidate,
    SpendRecord,
)
from apps.chain.nodes import nodes_of
from apps.chain.sending import coin_sender, sender, signing_rounds
from apps.core import clock
from apps.ledger.chart import CUSTODY_DEPOSITS, CUSTODY_HOT
from apps.ledger.selectors import balances, service_balances
from apps.payments.models import HeldRefund
from apps.payments.services import treasury
from apps.payments.services.refund_destinations import AddressMalformed, checked_address
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.services.sweep_books import book_sweeps
from apps.payouts.documents import payout_document
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from apps.stores.services import create_user
from tests import make
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_paying import CHAIN, Reading, entry, reading_of
from tests.cast import Shop

pytestmark = pytest.mark.litecoin
MANY = 40


@pytest.fixture
def reading(litecoin: Litecoin, bakery: Shop, settings: Any) -> Any:
    with reading_of(litecoin, bakery, settings) as reader:
        signing_rounds.introduce()
        yield reader


def paid_in(litecoin: Litecoin, reading: Reading, amount: str = "100.00") -> int:
    """Coins that a payment has brought."""
    payment = make.payment(reading.shop.test, amount=amount)
    way = entry(payment)
    litecoin.pay(way["address"], way["crypto_amount"])
    litecoin.mine(2)
    assert reading.detail(payment)["status"] == "completed"
    return int(way["crypto_amount_atomic"])


def rounds(litecoin: Litecoin, reading: Reading, count: int = 1) -> None:
    """Rounds of signer and worker, and two blocks."""
    for _ in range(count):
        advance_payouts()
        signing_rounds.sign_due()
        sender.run_due()
        advance_payouts()
        litecoin.mine(2)
        reading.read()
        sender.run_due()
        book_sweeps()
        advance_payouts()
        OutgoingTransaction.objects.filter(not_before__isnull=False).update(
            not_before=clock.real_now() - timedelta(minutes=2)
        )


def test_forty_payouts_leave_in_one_transaction(litecoin: Litecoin, reading: Reading) -> None:
    for _ in range(3):
        paid_in(litecoin, reading)
    goals = [litecoin.faucet("getnewaddress") for _ in range(MANY)]
    each = 1_000_000
    for goal in goals:
        make.payout(reading.shop.test, each, asset_id="TLTC", destination_address=goal)
    rounds(litecoin, reading)
    orders = OutgoingTransaction.objects.filter(purpose="payout")
    assert set(Payout.objects.values_list("status", flat=True)) == {"confirmed"}
    [tx_hash] = set(orders.values_list("tx_hash", flat=True))
    told = litecoin.ask("getrawtransaction", tx_hash, True)
    assert len(told["vout"]) == MANY + 1
    [spend] = SpendRecord.objects.all()
    assert sum(order.network_fee_atomic for order in orders) == spend.candidates.get().fee_atomic
    for goal in goals:
        assert litecoin.faucet("getreceivedbyaddress", goal) == each / 10**8
    # Fees are told with the places that the coin has.
    told_fees = [payout_document(row).network_fee_decimal for row in Payout.objects.all()]
    fee = Decimal(spend.candidates.get().fee_atomic) / 10**8
    assert sum(Decimal(text or "0") for text in told_fees) == fee
    # Each coin of a deposit address is booked as brought to the wallet, and the change is one.
    sweeps = OutgoingTransaction.objects.filter(purpose="sweep")
    assert set(sweeps.values_list("handled_status", flat=True)) == {"confirmed"}
    [change] = CoinRecord.objects.filter(is_deposit=False)
    assert change.address == HotWallet.objects.get(chain=CHAIN).address
    assert not Deposit.objects.filter(address=change.address).exists()


def asked_before(seconds: int) -> None:
    """So long ago."""
    for order in OutgoingTransaction.objects.filter(status="requested"):
        order.requested_at -= timedelta(seconds=seconds)
        order.save(update_fields=["requested_at"])


def test_payouts_that_are_asked_for_one_by_one_leave_together(
    litecoin: Litecoin, reading: Reading, settings: Any
) -> None:
    """Once it has been quiet for a while; the signer looks after each."""
    settings.SIGNER_GATHER_SECONDS = {CHAIN: 60}
    for _ in range(3):
        paid_in(litecoin, reading)
    for _ in range(MANY):
        goal = litecoin.faucet("getnewaddress")
        make.payout(reading.shop.test, 1_000_000, asset_id="TLTC", destination_address=goal)
        advance_payouts()
        assert signing_rounds.sign_due() == 0
    asked_before(seconds=61)
    rounds(litecoin, reading)
    assert set(Payout.objects.values_list("status", flat=True)) == {"confirmed"}
    hashes = OutgoingTransaction.objects.filter(purpose="payout").values_list("tx_hash", flat=True)
    assert len(set(hashes)) == 1


def test_the_first_that_was_asked_for_waits_for_the_others_half_a_minute_at_most(
    litecoin: Litecoin, reading: Reading, settings: Any
) -> None:
    settings.SIGNER_GATHER_SECONDS = {}  # as it comes
    paid_in(litecoin, reading)
    asked = signed = 0
    while not signed:
        goal = litecoin.faucet("getnewaddress")
        make.payout(reading.shop.test, 500_000, asset_id="TLTC", destination_address=goal)
        advance_payouts()
        asked += 1
        signed = signing_rounds.sign_due()
        asked_before(seconds=4)
    assert 5 < signed == asked <= 9


def test_the_change_pays_the_next_payout(litecoin: Litecoin, reading: Reading) -> None:
    paid_in(litecoin, reading)
    for _ in range(2):
        goal = litecoin.faucet("getnewaddress")
        make.payout(reading.shop.test, 2_000_000, asset_id="TLTC", destination_address=goal)
        rounds(litecoin, reading)
    assert set(Payout.objects.values_list("status", flat=True)) == {"confirmed"}
    assert SpendRecord.objects.filter(ended_at__isnull=False).count() == 2
    assert balances(reading.shop.store.pk, "test")


def test_what_the_wallet_is_short_of_waits_and_goes_when_coins_come(
    litecoin: Litecoin, reading: Reading
) -> None:
    """The job sends equal bytes again however often it runs."""
    paid_in(litecoin, reading)
    goal = litecoin.faucet("getnewaddress")
    make.payout(reading.shop.test, 3_000_000, asset_id="TLTC", destination_address=goal)
    advance_payouts()
    signing_rounds.sign_due()
    signing_rounds.sign_due()
    sender.run_due()
    sender.run_due()
    assert SpendRecord.objects.count() == 1
    [waiting] = litecoin.waiting
    assert waiting == OutgoingTransaction.objects.get(purpose="payout").tx_hash
    rounds(litecoin, reading)
    assert Payout.objects.get().status == "confirmed"


def test_a_refund_goes_to_the_address_that_is_named(litecoin: Litecoin, reading: Reading) -> None:
    """Nobody is the sender of coins, so that without an address there is nowhere to send them."""
    api = reading.shop.test
    paid_in(litecoin, reading)  # of which the service's fee is borne
    payment = make.payment(api, amount="100.00")
    way = entry(payment)
    litecoin.pay(way["address"], way["crypto_amount"])
    litecoin.mine(2)
    assert reading.detail(payment)["status"] == "completed"
    path = f"/payments/{payment['id']}/refunds"
    refused = api.post(path, {"refund": {}}, key="nowhere")
    assert refused.status_code == 422, refused.content
    goal = litecoin.faucet("getnewaddress")
    body = {"refund": {"destination_address": goal}}
    answer = api.post(path, body, key="back")
    assert answer.status_code == 201, answer.content
    for _ in range(2):
        advance_refunds()
        signing_rounds.sign_due()
        sender.run_due()
        litecoin.mine(2)
        reading.read()
        sender.run_due()
        advance_refunds()
    order = OutgoingTransaction.objects.get(purpose="refund")
    assert order.status == "confirmed"
    assert litecoin.faucet("getreceivedbyaddress", goal) == order.amount_atomic / 10**8


def held_in(kind: str) -> int:
    return -sum(
        balance
        for mode, asset_id, account, balance in service_balances()
        if (mode, asset_id, account) == ("test", "TLTC", kind)
    )


def test_each_coin_that_one_transaction_spends_is_booked_as_brought(
    litecoin: Litecoin, reading: Reading
) -> None:
    brought = [paid_in(litecoin, reading) for _ in range(3)]
    assert (held_in(CUSTODY_DEPOSITS), held_in(CUSTODY_HOT)) == (sum(brought), 0)
    amount = brought[0] + brought[1] + brought[2] // 2
    goal = litecoin.faucet("getnewaddress")
    make.payout(reading.shop.test, amount, asset_id="TLTC", destination_address=goal)
    rounds(litecoin, reading)
    assert Payout.objects.get().status == "confirmed"
    assert OutgoingTransaction.objects.filter(purpose="sweep").count() == 3
    [change] = CoinRecord.objects.filter(is_deposit=False)
    assert (held_in(CUSTODY_DEPOSITS), held_in(CUSTODY_HOT)) == (0, change.amount_atomic)


def apart() -> int:
    """Coins that the node counts at our addresses beyond the ledger: what earlier tests have
    left."""
    [told] = [each for each in custody.compare(custody.booked()) if "TLTC" in each.subject]
    return int(told.detail.rpartition(": ")[2] or 0)


def findings() -> list[object]:
    """Of everything in the books."""
    return [found for each in verify.verdicts() for found in each.findings]


def test_the_books_agree_with_the_node_before_and_after_a_payout(
    litecoin: Litecoin, reading: Reading
) -> None:
    left = apart()
    for _ in range(2):
        paid_in(litecoin, reading)
    assert (findings(), apart()) == ([], left)
    goal = litecoin.faucet("getnewaddress")
    make.payout(reading.shop.test, 12_000_000, asset_id="TLTC", destination_address=goal)
    rounds(litecoin, reading)
    assert Payout.objects.get().status == "confirmed"
    assert (findings(), apart()) == ([], left)


def test_the_change_of_a_payout_is_no_funding(litecoin: Litecoin, reading: Reading) -> None:
    paid_in(litecoin, reading)
    goal = litecoin.faucet("getnewaddress")
    make.payout(reading.shop.test, 2_000_000, asset_id="TLTC", destination_address=goal)
    rounds(litecoin, reading)
    wallet = HotWallet.objects.get(chain=CHAIN)
    spend = SpendRecord.objects.get()
    staff = create_user("sam@example.com", "pw-0123456789", name="Sam", is_staff=True)
    with (
        closing(nodes_of(wallet.chain)) as nodes,
        pytest.raises(treasury.NotFunding, match="own"),
    ):
        treasury.book_funding(wallet, spend.mined_as, nodes, staff, clock.real_now())


def test_a_stopped_wallet_goes_on_when_a_person_says_so(
    litecoin: Litecoin, reading: Reading
) -> None:
    paid_in(litecoin, reading)
    goal = litecoin.faucet("getnewaddress")
    make.payout(reading.shop.test, 2_000_000, asset_id="TLTC", destination_address=goal)
    advance_payouts()
    call_command("sending", "stop", CHAIN)
    rounds(litecoin, reading)
    assert not SpendRecord.objects.exists()
    litecoin.mine()
    with pytest.raises(SystemExit):
        call_command("sending", "resume", CHAIN)
    assert HotWallet.objects.get(chain=CHAIN).halted_at is not None
    reading.read()
    call_command("sending", "resume", CHAIN)
    rounds(litecoin, reading)
    assert Payout.objects.get().status == "confirmed"


def sent_by_another_copy(litecoin: Litecoin, reading: Reading, amounts: list[int]) -> str:
    """The transaction that sent these payouts before a backup was restored: its hash."""
    for amount in amounts:
        goal = litecoin.faucet("getnewaddress")
        make.payout(reading.shop.test, amount, asset_id="TLTC", destination_address=goal)
    advance_payouts()
    with transaction.atomic():
        signing_rounds.sign_due()
        raw = SpendCandidate.objects.get().raw
        transaction.set_rollback(True)
    tx_hash = litecoin.send(raw)
    litecoin.mine(3)
    reading.read()
    call_command("sending", "stop", CHAIN)
    call_command("sending", "resume", CHAIN)
    return tx_hash


def test_what_another_copy_has_sent_is_marked_so_with_its_coins_and_its_fee(
    litecoin: Litecoin, reading: Reading
) -> None:
    left = apart()
    brought = [paid_in(litecoin, reading) for _ in range(2)]
    amounts = [brought[0] + 2_000_000, 3_000_000]
    tx_hash = sent_by_another_copy(litecoin, reading, amounts)
    rows = OutgoingTransaction.objects.filter(purpose="payout").order_by("requested_at")
    assert [row.status for row in rows] == ["review"] * 2
    for row in rows:
        call_command("sending", "sent", str(row.pk), hash=tx_hash)
    rounds(litecoin, reading)
    assert {row.status for row in rows.all()} == {"confirmed"}
    assert set(Payout.objects.values_list("status", flat=True)) == {"confirmed"}
    told = litecoin.ask("getrawtransaction", tx_hash, True)
    paid = sum(round(each["value"] * 10**8) for each in told["vout"])
    assert sum(row.network_fee_atomic for row in rows.all()) == sum(brought) - paid
    assert OutgoingTransaction.objects.filter(purpose="sweep").count() == 2
    assert (findings(), apart()) == ([], left)
    assert SpendRecord.objects.filter(ended_at=None).count() == 0


def test_what_a_transaction_has_not_paid_is_not_marked_as_sent(
    litecoin: Litecoin, reading: Reading
) -> None:
    for _ in range(2):
        paid_in(litecoin, reading)
    tx_hash = sent_by_another_copy(litecoin, reading, [2_000_000])
    goal = litecoin.faucet("getnewaddress")
    row = OutgoingTransaction.objects.get(purpose="payout")
    stranger = litecoin.pay(goal, "0.02")
    waiting = litecoin.pay(row.to_address, "0.02")
    for wrong in (stranger, waiting, "ab" * 32, "no hash"):
        with pytest.raises(SystemExit):
            call_command("sending", "sent", str(row.pk), hash=wrong)
    litecoin.mine(3)
    reading.read()
    with pytest.raises(SystemExit):  # it pays it, with somebody else's coins
        call_command("sending", "sent", str(row.pk), hash=waiting)
    OutgoingTransaction.objects.filter(pk=row.pk).update(amount_atomic=2_000_001)
    with pytest.raises(SystemExit):
        call_command("sending", "sent", str(row.pk), hash=tx_hash)
    row.refresh_from_db()
    assert row.status == "review" and not SpendRecord.objects.exists()


def test_nothing_is_signed_again_where_nodes_take_no_replacement(
    litecoin: Litecoin, reading: Reading
) -> None:
    """The first transaction goes on waiting, is shown by its own hash, and is paid once."""
    paid_in(litecoin, reading)
    goal = litecoin.faucet("getnewaddress")
    make.payout(reading.shop.test, 2_000_000, asset_id="TLTC", destination_address=goal)
    advance_payouts()
    signing_rounds.sign_due()
    sender.run_due()
    [first] = litecoin.waiting
    for _ in range(3):
        for row in SpendCandidate.objects.all():
            row.signed_at -= timedelta(hours=1)
            row.broadcast_at = row.broadcast_at and row.broadcast_at - timedelta(hours=1)
            row.save()
        signing_rounds.sign_due()
        sender.run_due()
    assert litecoin.waiting == [first]
    assert SpendCandidate.objects.count() == 2
    assert OutgoingTransaction.objects.get(purpose="payout").tx_hash == first
    rounds(litecoin, reading)
    order = OutgoingTransaction.objects.get(purpose="payout")
    fee_atomic = SpendCandidate.objects.get(tx_hash=first).fee_atomic
    assert (order.status, order.tx_hash, order.network_fee_atomic) == (
        "confirmed",
        first,
        fee_atomic,
    )


def test_a_spend_that_nobody_replaces_keeps_no_other_from_a_higher_fee(
    litecoin: Litecoin, reading: Reading
) -> None:
    spends = []
    for _ in range(2):
        paid_in(litecoin, reading)
    for _ in range(2):
        goal = litecoin.faucet("getnewaddress")
        make.payout(reading.shop.test, 2_000_000, asset_id="TLTC", destination_address=goal)
        advance_payouts()
        signing_rounds.sign_due()
        sender.run_due()
        spends.append(SpendRecord.objects.latest("pk"))
    assert len({spend.pk for spend in spends}) == len(litecoin.waiting) == 2
    for _ in range(2):
        for row in SpendCandidate.objects.all():
            row.signed_at -= timedelta(hours=1)
            row.broadcast_at = row.broadcast_at and row.broadcast_at - timedelta(hours=1)
            row.save()
        signing_rounds.sign_due()
        sender.run_due()
    assert [spend.candidates.count() for spend in spends] == [2, 2]


def test_a_coin_that_only_a_refused_replacement_took_is_neither_swept_nor_spent(
    litecoin: Litecoin, reading: Reading
) -> None:
    brought = [paid_in(litecoin, reading, amount) for amount in ("100.00", "60.00")]
    goal = litecoin.faucet("getnewaddress")
    amount = brought[0] - 3_000  # what is left is dust: more fee takes another coin
    make.payout(reading.shop.test, amount, asset_id="TLTC", destination_address=goal)
    advance_payouts()
    signing_rounds.sign_due()
    sender.run_due()
    [first] = litecoin.waiting
    assert CoinRecord.objects.exclude(spend=None).count() == 1
    for row in SpendCandidate.objects.all():
        row.signed_at -= timedelta(hours=1)
        row.broadcast_at = row.broadcast_at and row.broadcast_at - timedelta(hours=1)
        row.save()
    signing_rounds.sign_due()
    assert CoinRecord.objects.exclude(spend=None).count() == 2
    sender.run_due()
    rounds(litecoin, reading)
    assert OutgoingTransaction.objects.get(purpose="payout").tx_hash == first
    [sweep] = OutgoingTransaction.objects.filter(purpose="sweep")
    assert sweep.amount_atomic == brought[0]
    assert held_in(CUSTODY_DEPOSITS) == brought[1]
    [left] = CoinRecord.objects.filter(is_deposit=True, spend=None)
    assert left.amount_atomic == brought[1]
    assert Deposit.objects.filter(is_unswept=True).count() == 1


def test_a_payout_that_was_final_and_undone_is_sent_again_as_it_was(
    litecoin: Litecoin, reading: Reading
) -> None:
    paid_in(litecoin, reading)
    goal = litecoin.faucet("getnewaddress")
    make.payout(reading.shop.test, 2_000_000, asset_id="TLTC", destination_address=goal)
    rounds(litecoin, reading)
    spend = SpendRecord.objects.get()
    before = balances(reading.shop.store.pk, "test")
    litecoin.take_back(2)
    litecoin.mine_without(spend.mined_as, 3)
    reading.read()
    rounds(litecoin, reading)
    litecoin.mine(2)
    reading.read()
    sender.run_due()
    order = OutgoingTransaction.objects.get(purpose="payout")
    told = litecoin.ask("getrawtransaction", spend.mined_as, True)
    assert (order.tx_hash, order.block_hash) == (spend.mined_as, told["blockhash"])
    assert (SpendRecord.objects.count(), HotWallet.objects.get(chain=CHAIN).halted_at) == (1, None)
    assert litecoin.faucet("getreceivedbyaddress", goal) == 2_000_000 / 10**8
    assert balances(reading.shop.store.pk, "test") == before
    assert not coin_sender.is_due(HotWallet.objects.get(chain=CHAIN))


def test_the_customer_gives_the_address_of_a_refund_on_the_page(
    litecoin: Litecoin, reading: Reading
) -> None:
    """An address of another network is refused with a sentence."""
    asset = Asset.objects.select_related("chain").get(pk="TLTC")
    row = HeldRefund(asset=asset)
    goal = litecoin.faucet("getnewaddress")
    assert checked_address(goal, [row]) == goal
    for other in ("ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9", f"0x{'12' * 20}"):
        with pytest.raises(AddressMalformed):
            checked_address(other, [row])
