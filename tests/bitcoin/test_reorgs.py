"""Six blocks of payouts and refunds that were final fall out of the chain: they come back, or the
coins that they spent were double-spent by their payer."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from apps.assets.models import AcceptedAsset
from apps.audit import verify
from apps.chain.models import HotWallet, OutgoingTransaction, SpendCandidate, SpendRecord
from apps.chain.sending import sender, signing_rounds
from apps.core import clock
from apps.ledger.selectors import balances
from apps.payments.models import Refund
from apps.payments.services.refund_progress import advance_refunds
from apps.payouts.models import Payout
from apps.payouts.services.progress import advance_payouts
from apps.webhooks.models import Event
from tests import make
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_paying import CHAIN, Reading, entry, reading_of, taker_of
from tests.bitcoin.test_sending import rounds
from tests.cast import Shop

pytestmark = pytest.mark.litecoin
DEEP = 6


@pytest.fixture
def reading(replacing: Litecoin, bakery: Shop, settings: Any) -> Iterator[Reading]:
    with reading_of(replacing, bakery, settings) as reader:
        signing_rounds.introduce()
        yield reader


def wrong() -> list[str]:
    found = [each for verdict in verify.verdicts(check_chain=True) for each in verdict.findings]
    return [str(each) for each in found]


def told(shop: Shop) -> list[str]:
    """The events of the store, in their order."""
    rows = Event.objects.filter(store=shop.store).order_by("created_at", "pk")
    return list(rows.values_list("type", flat=True))


def both_sent(node: Litecoin, reading: Reading, amount: str = "100.00") -> tuple[str, set[str]]:
    """A payout and a refund that are final and six blocks deep, of the only coin that there is: the
    transaction that brought it, and those that left."""
    payment = make.payment(reading.shop.test, amount=amount)
    way = entry(payment)
    paid_by = node.pay(way["address"], way["crypto_amount"], is_replaceable=True)
    node.mine(2)
    assert reading.detail(payment)["status"] == "completed"
    goal = node.faucet("getnewaddress")
    make.payout(reading.shop.test, 2_000_000, asset_id="TLTC", destination_address=goal)
    body = {"refund": {"destination_address": node.faucet("getnewaddress"), "amount": "0.2"}}
    answer = reading.shop.test.post(f"/payments/{payment['id']}/refunds", body, key="back")
    assert answer.status_code == 201, answer.content
    advance_refunds()
    rounds(node, reading)
    advance_refunds()
    node.mine(DEEP - 2)
    reading.read()
    assert Payout.objects.get().status == Refund.objects.get().status == "confirmed"
    orders = OutgoingTransaction.objects.filter(purpose__in=["payout", "refund"])
    return paid_by, set(orders.values_list("tx_hash", flat=True))


def settled(reading: Reading) -> None:
    reading.read()
    for _ in range(2):
        sender.run_due()
        advance_payouts()
        advance_refunds()


def test_what_left_and_falls_out_six_blocks_deep_comes_back_and_changes_nothing(
    replacing: Litecoin, reading: Reading
) -> None:
    _, hashes = both_sent(replacing, reading)
    before = balances(reading.shop.store.pk, "test"), told(reading.shop)
    assert wrong() == []
    replacing.take_back(DEEP)
    assert hashes <= set(replacing.waiting)
    replacing.mine(DEEP + 1)
    settled(reading)
    assert Payout.objects.get().status == Refund.objects.get().status == "confirmed"
    for order in OutgoingTransaction.objects.filter(purpose__in=["payout", "refund"]):
        block = replacing.ask("getrawtransaction", order.tx_hash, True)["blockhash"]
        assert (order.status, order.block_hash) == ("confirmed", block)
    assert (balances(reading.shop.store.pk, "test"), told(reading.shop)) == before
    assert HotWallet.objects.get(chain=CHAIN).halted_at is None and wrong() == []


def test_what_left_and_lost_its_coins_calls_somebody_is_found_and_sends_nothing_else(
    replacing: Litecoin, reading: Reading, caplog: pytest.LogCaptureFixture
) -> None:
    """The customer's payment is double-spent six blocks deep, and what it funded is gone with it:
    its receipt may come back, so the same bytes alone are tried again."""
    paid_by, hashes = both_sent(replacing, reading, "120.00")
    depth = replacing.ask("getrawtransaction", paid_by, True)["confirmations"]
    replacing.take_back(depth)
    taker_of(replacing, paid_by)
    replacing.mine(depth + 1)
    SpendCandidate.objects.update(broadcast_at=clock.real_now() - timedelta(minutes=1))
    settled(reading)
    assert hashes.isdisjoint(replacing.waiting)
    assert "outgoing_undone" in caplog.text and "missingorspent" in caplog.text
    assert Payout.objects.get().status == Refund.objects.get().status == "confirmed"
    assert SpendRecord.objects.count() == len(hashes)
    assert AcceptedAsset.objects.get(asset="TLTC").suspended_at is not None
    [finding] = wrong()
    assert "custody_is_there" in finding
