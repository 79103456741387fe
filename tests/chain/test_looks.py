"""Nothing has come is said of a payment once its own addresses were looked at past its deadline:
by expiry, a new quote, a cancellation, and a voided invoice."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import structlog
import time_machine
from django.db import transaction

from apps.assets.rates import refresh
from apps.billing.invoices.payment_intents import update_paid_amounts
from apps.billing.subscriptions.cycle import run_cycles
from apps.chain.models import AddressLook, Deposit, UnexplainedBalance
from apps.core import clock
from apps.links.models import LinkPayment, PaymentLink
from apps.links.services.stock import taken
from apps.payments import pruning
from apps.payments.models import Payment
from apps.payments.services import cancel
from apps.payments.services.expire import expire_due, expire_if_due
from apps.payments.services.looks import look_due
from apps.payments.services.renew import (
    OFFERED_FOR,
    NotRenewable,
    is_renewable,
    renew_payment,
)
from apps.payments.services.settle import settle_deposits
from tests import make
from tests.billing import records
from tests.billing.test_paying import accept
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import FORWARDER, REVERTER, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_again import take_dollars
from tests.chain.test_deposits import CONTRACT
from tests.chain.test_payment_flow import entry

pytestmark = pytest.mark.chain


@pytest.fixture(autouse=True)
def seldom(settings: Any) -> None:
    """The watcher goes round the open addresses too seldom to be in time by chance."""
    settings.CHAIN_BALANCE_CHECK_BLOCKS = 1_000_000


class Deadline:
    """A payment in SETH and what happens around the end of its time."""

    def __init__(self, chain: LocalChain, watcher: Reader, shop: Shop) -> None:
        self.chain = chain
        self.watcher = watcher
        self.shop = shop
        self.document = make.payment(shop.test)
        self.address = entry(self.document)["address"].lower()
        self.due_atomic = int(entry(self.document)["crypto_amount_atomic"])
        self.at = datetime.fromisoformat(self.document["expires_at"].replace("Z", "+00:00"))

    @property
    def row(self) -> Payment:
        return Payment.objects.select_related("store").get(pk=self.document["id"])

    def pay_by_contract(self, amount_atomic: int | None = None) -> None:
        """In the last block before the deadline."""
        self.chain.call("evm_setNextBlockTimestamp", int(self.at.timestamp()) - 1)
        self.chain.through(CONTRACT, amount_atomic or self.due_atomic, self.address)

    def judge(self) -> str:
        self.watcher.read()
        expire_due()
        settle_deposits()
        return self.row.status


@pytest.fixture
def deadline(chain: LocalChain, watcher: Reader, bakery: Shop) -> Iterator[Deadline]:
    """The time is just past the payment's deadline, and a block is past it as well."""
    chain.put(FORWARDER, CONTRACT)
    made = Deadline(chain, watcher, bakery)
    with time_machine.travel(made.at + timedelta(seconds=2), tick=True):
        yield made


def test_a_contract_that_pays_just_before_the_deadline_is_on_time(deadline: Deadline) -> None:
    deadline.pay_by_contract()
    deadline.chain.mine_after(deadline.at)
    assert deadline.judge() == "processing"
    deadline.chain.mine(3)
    assert deadline.judge() == "completed"
    assert not deadline.row.late_deposits.exists()


def test_without_coins_it_expires_at_the_first_look(deadline: Deadline) -> None:
    deadline.chain.mine_after(deadline.at)
    deadline.watcher.read()
    settled = expire_if_due(deadline.row)  # who reads the page asks no chain
    assert settled.status == "pending"
    assert deadline.judge() == "expired"
    look = AddressLook.objects.get(pk=deadline.address)
    assert look.looked_until >= deadline.at and look.block_number == deadline.chain.height


def test_half_by_a_contract_is_no_less_than_half(deadline: Deadline) -> None:
    deadline.pay_by_contract(deadline.due_atomic // 2)
    deadline.chain.mine_after(deadline.at)
    assert deadline.judge() == "processing"
    deadline.chain.mine(3)
    assert deadline.judge() == "failed"
    assert deadline.row.state_reason == "failed_underpaid"


def test_a_node_that_says_nothing_of_balances_delays(proxy: Proxy, deadline: Deadline) -> None:
    proxy.unknown.add("eth_getBalance")
    deadline.chain.mine_after(deadline.at)
    for _ in range(3):
        assert deadline.judge() == "pending"
    proxy.unknown.clear()
    proxy.whole = (500, b"")
    expire_due()
    assert deadline.row.status == "pending"
    proxy.whole = None
    assert deadline.judge() == "expired"


def test_one_address_that_can_not_be_asked_holds_up_no_other(
    proxy: Proxy, deadline: Deadline
) -> None:
    poisoned = deadline.address
    others = [Deadline(deadline.chain, deadline.watcher, deadline.shop) for _ in range(5)]
    last = max(other.at for other in others)
    proxy.cuts = lambda body: poisoned in body
    with time_machine.travel(last + timedelta(seconds=5), tick=True):
        deadline.chain.mine_after(last + timedelta(seconds=4))
        deadline.watcher.read()
        expire_due()
        assert [other.row.status for other in others] == ["expired"] * 5
        assert deadline.row.status == "pending"
        proxy.cuts = lambda body: False
        assert deadline.judge() == "expired"


def test_a_reorg_below_the_look_takes_the_look_back(deadline: Deadline) -> None:
    deadline.chain.mine_after(deadline.at)
    deadline.watcher.read()
    look_due()
    assert AddressLook.objects.exists()
    deadline.chain.reorg(1)
    deadline.watcher.read()
    assert not AddressLook.objects.exists()


def test_a_new_quote_waits_for_the_look(deadline: Deadline) -> None:
    deadline.chain.mine_after(deadline.at)
    assert deadline.judge() == "expired" and is_renewable(deadline.row)
    AddressLook.objects.all().delete()  # as of a payment that an older version ended
    assert not is_renewable(deadline.row)
    with pytest.raises(NotRenewable):
        renew_payment(deadline.row)


def test_a_look_is_kept_as_long_as_a_new_quote_may_be_asked_for(deadline: Deadline) -> None:
    deadline.chain.mine_after(deadline.at)
    assert deadline.judge() == "expired"
    looked_until = AddressLook.objects.get().looked_until
    assert pruning.prune_all(looked_until + OFFERED_FOR) == {"address_looks": 0}
    with time_machine.travel(deadline.at + OFFERED_FOR, tick=False):
        assert is_renewable(deadline.row)

    after = looked_until + OFFERED_FOR + timedelta(microseconds=1)
    assert pruning.prune_all(after) == {"address_looks": 1}
    with time_machine.travel(after, tick=False):
        assert not is_renewable(deadline.row)


def test_an_open_payment_whose_look_is_gone_is_looked_at_again(deadline: Deadline) -> None:
    deadline.chain.mine_after(deadline.at)
    deadline.watcher.read()
    look_due()
    assert pruning.prune_all(deadline.at + 2 * OFFERED_FOR) == {"address_looks": 1}
    settle_deposits()
    assert deadline.row.status == "pending"
    assert deadline.judge() == "expired"


def test_no_new_quote_for_coins_that_no_block_told_of(deadline: Deadline) -> None:
    deadline.chain.mine_after(deadline.at)
    assert deadline.judge() == "expired"
    deadline.chain.through(CONTRACT, deadline.due_atomic, deadline.address)
    with pytest.raises(NotRenewable):
        renew_payment(deadline.row)
    assert not Payment.objects.exclude(pk=deadline.row.pk).exists()


def test_a_cancellation_asks_the_addresses(
    chain: LocalChain, proxy: Proxy, watcher: Reader, bakery: Shop
) -> None:
    chain.put(FORWARDER, CONTRACT)
    payment = Deadline(chain, watcher, bakery)
    watcher.read()
    proxy.whole = (500, b"")
    with pytest.raises(cancel.NetworkSilent):
        cancel.cancel_payment(payment.row)
    proxy.whole = None
    chain.through(CONTRACT, 7, payment.address)
    with pytest.raises(cancel.CoinsFound):
        cancel.cancel_payment(payment.row)
    assert payment.row.status == "pending"
    other = Deadline(chain, watcher, bakery)
    assert cancel.cancel_payment(other.row).status == "expired"


def test_a_test_clock_that_was_moved_judges_at_once(deadline: Deadline) -> None:
    clock.ask(deadline.row.store, 1)
    expire_due()
    assert deadline.row.status == "expired" and not AddressLook.objects.exists()


def test_what_nobody_explains_keeps_a_payment_open_until_it_is_explained(
    proxy: Proxy, deadline: Deadline
) -> None:
    deadline.pay_by_contract()
    deadline.chain.mine_after(deadline.at)
    proxy.lie("debug_traceBlockByHash", lambda traces: [])
    proxy.lie("eth_getBlockByHash", lambda block: {**block, "transactions": []})
    with structlog.testing.capture_logs() as lines:
        assert deadline.judge() == "pending"
        UnexplainedBalance.objects.update(looked_at=datetime(2026, 1, 1, tzinfo=UTC))
        assert deadline.judge() == "pending"
    logged = [line for line in lines if line["event"] == "balance_unexplained"]
    assert len(logged) == 1, "an alert that sounds at each look is turned off"
    open_one = UnexplainedBalance.objects.get()
    assert (open_one.address_id, open_one.amount_atomic, open_one.settled_at) == (
        deadline.address,
        deadline.due_atomic,
        None,
    )
    proxy.changes.clear()
    UnexplainedBalance.objects.update(looked_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert deadline.judge() == "processing"
    open_one.refresh_from_db()
    assert open_one.settled_at is not None
    assert Deposit.objects.get().amount_atomic == deadline.due_atomic


@pytest.fixture
def token(chain: LocalChain, bakery: Shop) -> str:
    """A real one that the store takes; the first account has some."""
    address = chain.deploy_token()
    take_dollars(bakery, address)
    chain.mint(address, chain.accounts[0], 10**12)
    return address


def test_a_tokens_transfer_that_a_node_left_out_is_found_by_the_balance(
    proxy: Proxy, token: str, deadline: Deadline
) -> None:
    way = entry(deadline.document, "USDC_SETH")
    blank = "0x" + "0" * 512
    proxy.lie("eth_getBlockByNumber", lambda block: block and {**block, "logsBloom": blank})
    proxy.lie("eth_getLogs", lambda logs: [])
    deadline.chain.call("evm_setNextBlockTimestamp", int(deadline.at.timestamp()) - 1)
    deadline.chain.transfer(token, way["address"], int(way["crypto_amount_atomic"]))
    deadline.chain.mine_after(deadline.at)
    assert deadline.judge() == "pending"  # its balance is there, and the node still denies it
    open_one = UnexplainedBalance.objects.get()
    assert (open_one.asset_id, open_one.address_id) == ("USDC_SETH", way["address"].lower())
    proxy.changes.clear()
    UnexplainedBalance.objects.update(looked_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert deadline.judge() == "processing"
    deadline.chain.mine(3)
    assert deadline.judge() == "completed"
    assert not UnexplainedBalance.objects.filter(settled_at=None).exists()


def test_a_token_that_says_nothing_of_itself_expires(token: str, deadline: Deadline) -> None:
    deadline.chain.put(REVERTER, token)
    deadline.chain.mine_after(deadline.at)
    assert deadline.judge() == "expired"


def test_an_invoice_is_voided_when_nothing_is_at_its_addresses(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    chain.put(FORWARDER, CONTRACT)
    bill = records.opened(bakery.test)
    payment_id = records.start_payment(bill["public_token"]).json()["payment"]["payment_intent_id"]
    address = entry(make.detail(bakery.test, payment_id))["address"]
    watcher.read()
    before = chain.call("evm_snapshot")
    chain.through(CONTRACT, 7, address)
    refused = records.act(bakery.test, bill["id"], "void")
    assert refused.status_code == 422
    assert refused.json()["error"] == "Invoice has a payment in progress"
    assert chain.call("evm_revert", before)
    records.ok(records.act(bakery.test, bill["id"], "void"))
    assert Payment.objects.get(pk=payment_id).status == "expired"


def test_a_piece_of_a_link_is_held_until_the_look(deadline: Deadline) -> None:
    link = PaymentLink.objects.create(
        store=deadline.shop.store,
        mode="test",
        token="look",
        title="A loaf",
        currency="EUR",
        amount_cents=1000,
        stock=1,
        created_at=clock.real_now(),
        updated_at=clock.real_now(),
    )
    LinkPayment.objects.create(link=link, payment=deadline.row, created_at=clock.real_now())
    deadline.pay_by_contract()
    deadline.chain.mine_after(deadline.at)
    deadline.watcher.read()
    expire_if_due(deadline.row)
    with transaction.atomic():
        assert taken(link, clock.real_now()) == 1
    assert deadline.judge() == "processing"
    with transaction.atomic():
        assert taken(link, clock.real_now()) == 1


class Due:
    """An invoice of a subscription that ends with its first failure, whose customer has begun to
    pay a minute before it is due."""

    def __init__(self, chain: LocalChain, watcher: Reader, shop: Shop) -> None:
        chain.put(FORWARDER, CONTRACT)
        watcher.read()  # the first look is over
        self.chain = chain
        self.watcher = watcher
        self.api = shop.test
        self.subscription_id = records.subscribe(self.api, grace_cycles=0)["id"]
        [self.bill] = records.invoices_of(self.api, self.subscription_id)
        self.at = datetime.fromisoformat(self.bill["due_at"].replace("Z", "+00:00"))
        with time_machine.travel(self.at - timedelta(minutes=1), tick=True):
            refresh()
            started = records.ok(records.start_payment(self.bill["public_token"]), 201)
            self.payment_id = started["payment"]["payment_intent_id"]
            self.way = entry(make.detail(self.api, self.payment_id))

    def pay_by_contract(self) -> None:
        """In the last block before it is due."""
        self.chain.call("evm_setNextBlockTimestamp", int(self.at.timestamp()) - 1)
        due_atomic = int(self.way["crypto_amount_atomic"])
        self.chain.through(CONTRACT, due_atomic, self.way["address"])

    def judge(self) -> tuple[str, str]:
        """The states of the subscription and of its invoice after a round of the jobs."""
        self.watcher.read()
        run_cycles()
        settle_deposits()
        update_paid_amounts()
        state = records.subscription(self.api, self.subscription_id)["status"]
        return state, records.invoice(self.api, self.bill["id"])["status"]


@pytest.fixture
def due(chain: LocalChain, watcher: Reader, bakery: Shop) -> Iterator[Due]:
    """The time is just past the due moment, and a block is past it as well."""
    made = Due(chain, watcher, bakery)
    with time_machine.travel(made.at + timedelta(seconds=20), tick=True):
        yield made


def test_a_subscriber_whose_contract_pays_just_before_the_due_moment_stays(due: Due) -> None:
    due.pay_by_contract()
    due.chain.mine_after(due.at)
    assert due.judge() == ("active", "open")
    due.chain.mine(3)
    assert due.judge() == ("active", "paid")


def test_a_subscription_without_coins_is_judged_at_the_first_look(due: Due) -> None:
    due.chain.mine_after(due.at)
    assert due.judge() == ("canceled", "open")
    assert AddressLook.objects.get(pk=due.way["address"].lower()).looked_until >= due.at
    assert Payment.objects.get(pk=due.payment_id).status == "pending"  # its own time isn't over


def test_a_subscription_waits_for_a_node_that_says_nothing_of_balances(
    proxy: Proxy, due: Due
) -> None:
    proxy.unknown.add("eth_getBalance")
    due.chain.mine_after(due.at)
    assert due.judge() == ("active", "open")
    proxy.unknown.clear()
    with time_machine.travel(due.at + timedelta(minutes=3), tick=True):
        due.chain.mine_after(due.at + timedelta(minutes=2))
        assert due.judge() == ("canceled", "open")


def test_a_payment_that_asks_too_much_ends_after_a_look(deadline: Deadline) -> None:
    """Late money of the first one is accepted while a contract pays the second."""
    shop = deadline.shop
    bill = records.opened(shop.test)
    first = records.start_payment(bill["public_token"]).json()["payment"]["payment_intent_id"]
    over = Payment.objects.get(pk=first).expires_at
    with time_machine.travel(over + timedelta(seconds=2), tick=True):
        refresh()
        deadline.chain.mine_after(over)
        deadline.judge()
        make.simulated(shop.test, first, None, settlement_amount="4.00", late=True)
        asked = records.start_payment(bill["public_token"]).json()["payment"]
        second = Payment.objects.get(pk=asked["payment_intent_id"])
        assert (str(second.pk) != first, asked["settlement_amount_cents"]) == (True, 1000)
        address = entry(make.detail(shop.test, str(second.pk)))["address"]
        [late] = make.detail(shop.test, first)["late_deposits"]
        accept(shop, first, late["id"])
        update_paid_amounts()
        second.refresh_from_db()
        assert second.status == "pending"
        moment = clock.real_now()
        before = deadline.chain.call("evm_snapshot")
        deadline.chain.call("evm_setNextBlockTimestamp", int(moment.timestamp()) - 1)
        deadline.chain.through(CONTRACT, 7, address)
        with time_machine.travel(moment + timedelta(seconds=20), tick=True):
            deadline.chain.mine_after(moment)
            deadline.watcher.read()
            with transaction.atomic():
                update_paid_amounts()
                second.refresh_from_db()
                assert second.status == "processing"
                transaction.set_rollback(True)
            assert deadline.chain.call("evm_revert", before)
            deadline.chain.mine_after(moment)
            deadline.chain.mine(2)
            deadline.watcher.read()
            update_paid_amounts()
            second.refresh_from_db()
            assert second.status == "expired"
            asked = records.start_payment(bill["public_token"]).json()["payment"]
            assert asked["settlement_amount_cents"] == 600
