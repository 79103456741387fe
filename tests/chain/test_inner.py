"""Coins that contracts send are found by the balances of open addresses, once each, with the
transaction that moved them."""

from datetime import timedelta

import pytest
import structlog

from apps.chain.models import Block, Deposit
from apps.core import clock
from tests.chain.conftest import Reader, make_address
from tests.chain.local import FORWARDER, SPLITTER, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import CONTRACT

pytestmark = pytest.mark.chain


@pytest.fixture
def address(db: None) -> str:
    return watched()


def watched() -> str:
    return make_address(
        native_chain="sepolia", watch_balance_until=clock.real_now() + timedelta(days=1)
    )


def test_coins_sent_by_a_contract_are_a_deposit_of_their_transaction(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.put(FORWARDER, CONTRACT)
    tx_hash = chain.through(CONTRACT, 10**15, address)
    chain.mine(12)
    watcher.read()
    deposit = Deposit.objects.get()
    assert (deposit.tx_hash, deposit.log_index, deposit.amount_atomic) == (tx_hash, -2, 10**15)
    assert (deposit.from_address, deposit.asset_id, deposit.status) == (
        CONTRACT,
        "SETH",
        "confirmed",
    )
    assert deposit.block_hash == chain.call("eth_getTransactionReceipt", tx_hash)["blockHash"]


def test_they_are_never_counted_twice(chain: LocalChain, watcher: Reader, address: str) -> None:
    chain.put(FORWARDER, CONTRACT)
    chain.through(CONTRACT, 10**15, address)
    for _ in range(4):
        chain.mine(10)
        watcher.read()
        watcher.restart()
    assert Deposit.objects.count() == 1


def test_coins_of_every_kind_are_told_apart(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    other = watched()
    chain.put(SPLITTER, CONTRACT)
    chain.pay(address, 7)
    both = chain.through(CONTRACT, 2_000, address, other)
    twice = chain.through(CONTRACT, 600, address, address)
    chain.pay(other, 9)
    chain.mine(12)
    watcher.read()
    chain.through(CONTRACT, 50, address, other)
    chain.mine(10)
    watcher.read()
    rows = Deposit.objects.filter(log_index__lt=-1, tx_hash__in=[both, twice]).values_list(
        "tx_hash", "log_index", "address_id", "amount_atomic"
    )
    assert set(rows) == {
        (both, -2, address, 1000),
        (both, -3, other, 1000),
        (twice, -2, address, 300),
        (twice, -3, address, 300),
    }
    for each in (address, other):
        held = int(chain.call("eth_getBalance", each, "latest"), 16)
        assert (
            sum(deposit.amount_atomic for deposit in Deposit.objects.filter(address_id=each))
            == held
        )


def test_a_node_that_can_not_trace_leaves_the_block_as_the_transaction(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(FORWARDER, CONTRACT)
    proxy.unknown.add("debug_traceBlockByHash")
    tx_hash = chain.through(CONTRACT, 10**15, address)
    chain.through(CONTRACT, 3, address)
    chain.mine(12)
    watcher.read()
    watcher.restart()
    chain.mine(12)
    watcher.read()
    first, second = Deposit.objects.order_by("block_number")
    assert (
        first.tx_hash
        == first.block_hash
        == chain.call("eth_getTransactionReceipt", tx_hash)["blockHash"]
    )
    assert (first.log_index, first.amount_atomic, second.amount_atomic) == (-2, 10**15, 3)


def test_a_node_without_older_balances_leaves_the_newest_block_as_the_transaction(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(FORWARDER, CONTRACT)
    chain.through(CONTRACT, 10**15, address)
    chain.mine(12 - chain.height)
    newest = chain.block(12)["hash"]
    proxy.pruned = lambda given: given[1]["blockHash"] != newest
    watcher.read()
    chain.mine(12)
    proxy.pruned = lambda given: False
    watcher.read()
    deposit = Deposit.objects.get()
    assert (deposit.tx_hash, deposit.block_number, deposit.amount_atomic) == (newest, 12, 10**15)


def test_a_watcher_far_behind_reads_on_before_it_asks_for_balances(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    """As after a demo's starts that were ended at once: of older blocks its chain knows none."""
    watcher.read()
    watcher.restart()
    chain.mine(90)
    kept = {chain.block(number)["hash"] for number in range(chain.height - 39, chain.height + 1)}
    proxy.pruned = lambda given: given[1]["blockHash"] not in kept
    with structlog.testing.capture_logs() as told:
        watcher.read()
    assert [line for line in told if line["event"] == "balances_unread"] == []
    chain.put(FORWARDER, CONTRACT)
    chain.through(CONTRACT, 10**15, address)
    chain.mine(12)
    kept |= {chain.block(number)["hash"] for number in range(chain.height - 12, chain.height + 1)}
    watcher.read()
    assert Deposit.objects.get().amount_atomic == 10**15


def test_coins_of_a_contract_that_a_reorg_takes_away_fail_and_come_back(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.put(FORWARDER, CONTRACT)
    chain.mine(9 - chain.height % 10)
    raw = chain.raw(chain.through(CONTRACT, 10**15, address))
    watcher.read()
    deposit = Deposit.objects.get()
    assert deposit.status == "confirming"
    chain.reorg(1)
    watcher.read()
    assert Deposit.objects.get().status == "failed"
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    chain.mine(12)
    watcher.read()
    assert (Deposit.objects.get().pk, Deposit.objects.get().status) == (deposit.pk, "confirmed")


def test_an_address_that_we_sent_from_is_followed_from_its_new_balance(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.put(FORWARDER, CONTRACT)
    chain.pay(address, 10**18)
    chain.mine(12)
    watcher.read()
    chain.call("anvil_impersonateAccount", address)
    chain.wait(
        chain.call(
            "eth_sendTransaction",
            {"from": address, "to": chain.accounts[0], "value": hex(10**17), "gas": hex(21000)},
        )
    )
    chain.mine(12)
    watcher.read()
    chain.through(CONTRACT, 55, address)
    chain.mine(12)
    watcher.read()
    assert sorted(deposit.amount_atomic for deposit in Deposit.objects.all()) == [55, 10**18]


def test_only_addresses_whose_time_is_not_over_are_looked_at(
    chain: LocalChain, watcher: Reader
) -> None:
    closed = make_address(
        native_chain="sepolia", watch_balance_until=clock.real_now() - timedelta(days=1)
    )
    chain.put(FORWARDER, CONTRACT)
    chain.through(CONTRACT, 10, closed)
    chain.mine(12)
    watcher.read()
    assert not Deposit.objects.exists() and Block.objects.exists()
