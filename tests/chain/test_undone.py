"""A reorg undoes transactions that were sent and final: equal bytes go out again, a person is
notified, nothing is booked twice."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from apps.chain.keys.seeds import Seed
from apps.chain.metrics import ChainCollector
from apps.chain.models import HotWallet, OutgoingTransaction, SignedTransaction, UndoneTransaction
from apps.chain.sending import hot_wallets, sender, signing_rounds
from apps.core import clock
from apps.ledger.models import Movement
from apps.ledger.selectors import account_balance
from apps.payments.models import PaymentAddress, Refund
from apps.payments.services.refund_progress import advance_refunds
from apps.payments.services.settle import settle_deposits
from apps.payments.services.sweep_books import book_sweeps
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import LocalChain, program
from tests.sending.test_signer import DEMO_MNEMONIC
from tests.swaps.conftest import Venue
from tests.swaps.ground import bakery, ground_of, place

__all__ = ["bakery", "place"]
pytestmark = pytest.mark.chain
HOT = Seed(DEMO_MNEMONIC).hot_key("test").address
TO = "0x" + "7a" * 20
AMOUNT = 10**15
REVERTS = "0x60006000fd"
REORG_MAX = 10  # blocks


def paid(place: Venue, shop: Shop) -> None:
    """A payment that was made on the chain, and a funded hot wallet that the books know of."""
    place.fund_hot(100)
    payment = make.payment(shop.test)
    way = PaymentAddress.objects.get(payment_id=payment["id"], asset_id="SETH")
    place.chain.pay(way.address_id, way.required_atomic)
    place.chain.mine(20)
    place.reader.read()
    settle_deposits()


ground = ground_of(paid)


class Sending:
    """The shop with the payment, and enough blocks since that a reorg leaves it alone."""

    def __init__(self, chain: LocalChain, watcher: Reader, shop: Shop) -> None:
        self.chain = chain
        self.watcher = watcher
        self.shop = shop
        way = PaymentAddress.objects.get(payment__store=shop.store, asset_id="SETH")
        self.payment_id = str(way.payment_id)
        self.address = way.address_id
        chain.mine(REORG_MAX)

    def refund(self) -> OutgoingTransaction:
        """A refund that is on the chain for good and booked."""
        answer = self.shop.test.post(
            f"/payments/{self.payment_id}/refunds",
            {"refund": {"amount": "0.001", "destination_address": TO}},
            key="refund",
        )
        assert answer.status_code == 201, answer.content
        self.work()
        self.bury()
        row = self.sent()
        assert (row.status, row.handled_status, Refund.objects.get().status, self.got()) == (
            "confirmed",
            "confirmed",
            "confirmed",
            AMOUNT,
        )
        return row

    def work(self) -> None:
        """Run each of the worker's jobs once."""
        self.watcher.read()
        advance_refunds()
        signing_rounds.sign_due()
        sender.run_due()
        advance_refunds()
        book_sweeps()

    def bury(self) -> None:
        self.chain.mine(3)
        self.work()

    def later(self) -> None:
        """Time has passed: what wasn't heard of is sent again."""
        SignedTransaction.objects.update(broadcast_at=clock.real_now() - timedelta(minutes=1))
        self.work()

    def sent(self) -> OutgoingTransaction:
        return OutgoingTransaction.objects.get(purpose="refund")

    def got(self) -> int:
        return int(self.chain.call("eth_getBalance", TO, "latest"), 16)

    def fees(self) -> int:
        return -account_balance(None, "test", "SETH", "network_fees")


@pytest.fixture
def sending(place: Venue, bakery: Shop) -> Sending:
    return Sending(place.chain, place.reader, bakery)


@pytest.fixture
def twin(place: Venue) -> Iterator[LocalChain]:
    """A second node of the same kind; what it holds is the test's to load."""
    local = LocalChain(str(program()))
    yield local
    local.close()


def alerts(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.msg["event"]
        for record in caplog.records
        if record.levelno >= logging.ERROR and isinstance(record.msg, dict)
    ]


def undone_figure() -> float:
    samples = [sample for family in ChainCollector().collect() for sample in family.samples]
    return next(
        sample.value
        for sample in samples
        if sample.name == "tillgate_chain_transactions_undone"
        and sample.labels["chain"] == "sepolia"
    )


def test_an_undone_refund_goes_out_again_as_the_same_bytes_and_the_wallet_goes_on(
    sending: Sending, caplog: pytest.LogCaptureFixture
) -> None:
    row = sending.refund()
    assert auditing.breaches(check_chain=True) == []
    booked = Movement.objects.count()
    stale = sending.sent()
    sending.chain.reorg(6)
    assert sending.got() == 0
    sending.chain.call("evm_setAutomine", False)
    sending.work()
    assert (sending.sent().status, sending.sent().handled_status, undone_figure()) == (
        "submitted",
        "confirmed",
        1,
    )
    assert "outgoing_undone" in alerts(caplog)
    with pytest.raises(sender.Undone):  # who books it meanwhile
        sender.mark_handled(stale)
    assert sending.chain.call("eth_getTransactionByHash", row.tx_hash) is not None
    assert (
        sending.shop.test.get(f"/payments/{sending.payment_id}/refunds").json()[0]["status"]
        == "confirmed"
    )
    sending.chain.call("evm_setAutomine", True)
    sending.bury()
    sending.bury()
    again = sending.sent()
    assert (again.status, again.tx_hash, again.nonce, sending.got(), undone_figure()) == (
        "confirmed",
        row.tx_hash,
        row.nonce,
        AMOUNT,
        0,
    )
    assert (again.candidates.count(), HotWallet.objects.get().next_nonce) == (1, row.nonce + 1)
    told = UndoneTransaction.objects.get()
    assert (told.status, told.tx_hash, told.block_hash) == (
        "confirmed",
        row.tx_hash,
        row.block_hash,
    )
    assert Movement.objects.exclude(kind="mined_again").count() == booked
    assert sending.fees() == again.network_fee_atomic
    assert auditing.breaches(check_chain=True) == []


def test_what_it_costs_otherwise_the_second_time_is_booked_as_a_difference(
    sending: Sending,
) -> None:
    row = sending.refund()
    sending.chain.reorg(6)
    sending.chain.call("anvil_setNextBlockBaseFeePerGas", hex(10**6))
    sending.work()
    sending.bury()
    sending.bury()
    again = sending.sent()
    assert again.status == "confirmed" and again.network_fee_atomic != row.network_fee_atomic
    assert Movement.objects.filter(kind="mined_again").count() == 1
    assert sending.fees() == again.network_fee_atomic == again.handled_fee_atomic
    book_sweeps()
    assert Movement.objects.filter(kind="mined_again").count() == 1
    assert auditing.breaches(check_chain=True) == []


def test_one_that_is_mined_in_another_block_at_once_is_followed_there(sending: Sending) -> None:
    row = sending.refund()
    sending.chain.reorg(6, (sending.chain.raw(row.tx_hash), 3))
    sending.work()
    sending.bury()
    again = sending.sent()
    assert (again.status, again.tx_hash, sending.got()) == ("confirmed", row.tx_hash, AMOUNT)
    assert again.block_hash != row.block_hash
    assert auditing.breaches(check_chain=True) == []


def test_one_that_is_reverted_the_second_time_waits_for_a_person(
    sending: Sending, caplog: pytest.LogCaptureFixture
) -> None:
    sending.refund()
    sending.chain.reorg(6)
    sending.chain.call("anvil_setCode", TO, REVERTS)
    sending.work()
    sending.bury()
    sending.bury()
    row = sending.sent()
    assert (row.status, row.handled_status, sending.got()) == ("review", "confirmed", 0)
    assert "second time it was reverted" in row.reason
    assert "outgoing_needs_review" in alerts(caplog)
    # The coins are in the wallet, the books say that they left: the audit names the refund and not
    # a loss of coins.
    found = auditing.breaches(check_chain=True)
    assert {finding.invariant for finding in found} == {"sent_once"}


def test_one_that_failed_and_was_given_back_is_sent_again_by_a_person_only(
    sending: Sending,
) -> None:
    sending.chain.call("evm_setAutomine", False)
    sending.shop.test.post(
        f"/payments/{sending.payment_id}/refunds",
        {"refund": {"amount": "0.001", "destination_address": TO}},
        key="refund",
    )
    sending.work()
    sending.chain.call("anvil_setCode", TO, REVERTS)
    sending.chain.call("evm_setAutomine", True)
    sending.bury()
    sending.bury()
    assert (sending.sent().status, sending.sent().handled_status, Refund.objects.get().status) == (
        "failed",
        "failed",
        "failed",
    )
    sending.chain.reorg(8)
    sending.work()
    sending.later()
    row = sending.sent()
    assert (row.status, row.handled_status) == ("review", "failed")
    assert sending.chain.call("eth_getTransactionByHash", row.tx_hash) is None
    sending.chain.call("anvil_setCode", TO, REVERTS)
    hot_wallets.resolve_by_sending_again(row, clock.real_now())
    sending.work()
    sending.bury()
    sending.bury()
    assert (sending.sent().status, sending.got()) == ("failed", 0)
    assert auditing.breaches(check_chain=True) == []


def test_a_node_that_lags_undoes_nothing(sending: Sending, twin: LocalChain, settings: Any) -> None:
    twin.call("anvil_loadState", sending.chain.call("anvil_dumpState"))
    twin.mine(1)
    row = sending.refund()
    urls = settings.CHAIN_URLS
    settings.CHAIN_URLS = {**urls, "sepolia": [twin.url]}
    sender.run_due()
    assert (sending.sent().status, sending.sent().block_hash) == ("confirmed", row.block_hash)
    assert not UndoneTransaction.objects.exists()


def test_an_undone_sweep_and_the_next_one_of_its_address_are_both_mined_in_the_end(
    sending: Sending,
) -> None:
    options = {
        "chain_id": "sepolia",
        "asset_id": "SETH",
        "to": HOT,
        "purpose": "sweep",
        "mode": "test",
        "sweeps": sending.address,
    }
    for number in range(2):
        reference = f"sepolia:{sending.address}:{number}"
        sender.request(**options, amount_atomic=AMOUNT, reference=reference, at=clock.real_now())
        sending.work()
        sending.bury()
        assert OutgoingTransaction.objects.get(reference=reference).handled_status == "confirmed"
    hashes = list(OutgoingTransaction.objects.order_by("nonce").values_list("tx_hash", flat=True))
    sending.chain.reorg(9)
    sending.work()
    sending.bury()
    sending.bury()
    rows = OutgoingTransaction.objects.order_by("nonce")
    assert [(row.status, row.nonce, row.undone_count) for row in rows] == [
        ("confirmed", 0, 1),
        ("confirmed", 1, 1),
    ]
    assert [row.tx_hash for row in rows] == hashes
    assert Movement.objects.filter(kind="sweep_confirmed").count() == 2
    assert auditing.breaches(check_chain=True) == []
