"""Transfers on the chain become deposits: native coins, tokens, several in one transaction, and
nothing that didn't arrive."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.assets.models import Asset
from apps.chain.models import Block, Deposit, Head
from apps.chain.selectors import BLOCK_ON_ITS_WAY, confirmations, is_caught_up
from apps.core import clock
from tests.chain.conftest import Reader, make_address
from tests.chain.local import ACCOUNTS, FORWARDER, LOGGER, REVERTER, LocalChain
from tests.whole import usually

pytestmark = pytest.mark.chain
Woken = Callable[[Callable[[], None]], list[str]]
USDC = "0x1c7d4b196cb0c7b01d743fbc6116a902379c7238"
STRANGER = "0x" + "77" * 20
CONTRACT = "0x" + "cc" * 20
PAID = usually(short=150, whole=500)  # more than a node is asked for at once


def blocks_are_linked() -> None:
    """Canonical blocks are numbered without gaps, each the child of the one before, up to the
    head."""
    rows = list(Block.objects.filter(chain_id="sepolia", is_canonical=True).order_by("number"))
    head = Head.objects.get(chain_id="sepolia")
    assert [row.number for row in rows] == list(range(rows[0].number, rows[0].number + len(rows)))
    assert [row.parent_hash for row in rows[1:]] == [row.hash for row in rows[:-1]]
    assert (rows[-1].number, rows[-1].hash) == (head.number, head.hash)


def test_native_coins_are_seen_and_confirmed_after_the_required_blocks(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    tx_hash = chain.pay(address, 5 * 10**17, sender=3)
    watcher.read()
    deposit = Deposit.objects.get()
    assert (deposit.asset_id, deposit.address_id, deposit.amount_atomic) == (
        "SETH",
        address,
        5 * 10**17,
    )
    assert (deposit.tx_hash, deposit.log_index, deposit.from_address) == (
        tx_hash,
        -1,
        chain.accounts[3].lower(),
    )
    assert (deposit.status, deposit.handled_status, deposit.required_confirmations) == (
        "confirming",
        "",
        3,
    )
    assert deposit.block_hash == chain.block(deposit.block_number)["hash"]
    chain.mine(1)
    watcher.read()
    deposit.refresh_from_db()
    assert (deposit.status, confirmations(deposit, Head.objects.get().number)) == ("confirming", 2)
    chain.mine(1)
    watcher.read()
    deposit.refresh_from_db()
    assert deposit.status == "confirmed" and deposit.confirmed_at is not None
    assert confirmations(deposit, Head.objects.get().number) == 3
    blocks_are_linked()


def test_the_settling_job_is_woken_for_what_changed(
    chain: LocalChain, watcher: Reader, address: str, woken: Woken
) -> None:
    assert woken(watcher.read) == []
    chain.pay(address, 10)
    assert woken(watcher.read) == [str(Deposit.objects.get().pk)]
    chain.mine(1)
    assert woken(watcher.read) == []
    chain.mine(1)
    assert woken(watcher.read) == [str(Deposit.objects.get().pk)]


def test_tokens_of_a_real_contract_are_seen(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    token = chain.deploy_token()
    Asset.objects.filter(pk="USDT_SETH").update(contract_address=token)
    chain.mint(token, chain.accounts[0], 10**9)
    tx_hash = chain.transfer(token, address, 25_000_000)
    watcher.read()
    deposit = Deposit.objects.get()
    assert (deposit.asset_id, deposit.amount_atomic, deposit.tx_hash) == (
        "USDT_SETH",
        25_000_000,
        tx_hash,
    )
    assert deposit.from_address == chain.accounts[0].lower()


def test_several_transfers_in_one_transaction_are_several_deposits(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    other = make_address()
    chain.log_transfers(USDC, (address, 1), (other, 2), (address, 3), (STRANGER, 4), (address, 0))
    watcher.read()
    rows = Deposit.objects.order_by("log_index").values_list(
        "address_id", "amount_atomic", "log_index"
    )
    assert list(rows) == [(address, 1, 0), (other, 2, 1), (address, 3, 2)]


def test_a_reverted_transaction_moves_nothing(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.put("0x5f5ffd", address)
    reverted = chain.pay(address, 10**15)
    chain.put("0x", address)
    paid = chain.pay(address, 7)
    watcher.read()
    assert chain.call("eth_getTransactionReceipt", reverted)["status"] == "0x0"
    assert [deposit.tx_hash for deposit in Deposit.objects.all()] == [paid]


def test_what_a_contract_reverts_is_no_transfer(chain: LocalChain, watcher: Reader) -> None:
    address = make_address(
        native_chain="sepolia", watch_balance_until=clock.real_now() + timedelta(days=1)
    )
    chain.put(REVERTER, CONTRACT)
    chain.through(CONTRACT, 10**15, address)
    chain.mine(12)
    watcher.read()
    assert not Deposit.objects.exists()


def test_tokens_of_an_unknown_contract_are_nothing(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, CONTRACT)
    chain.log_transfers(CONTRACT, (address, 10**6))
    watcher.read()
    assert not Deposit.objects.exists()


def test_one_unit_of_dust_and_the_largest_amount_are_kept_exactly(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    chain.pay(address, 1)
    chain.log_transfers(USDC, (address, 2**256 - 1))
    watcher.read()
    assert sorted(deposit.amount_atomic for deposit in Deposit.objects.all()) == [1, 2**256 - 1]


def test_coins_from_an_address_of_ours_are_no_deposit(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.call("anvil_impersonateAccount", address)
    chain.call("anvil_setBalance", address, hex(10**18))
    other = make_address()
    chain.wait(
        chain.call(
            "eth_sendTransaction", {"from": address, "to": other, "value": "0x5", "gas": hex(21000)}
        )
    )
    watcher.read()
    assert not Deposit.objects.exists()


def test_hundreds_of_payments_in_one_block_are_each_counted(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.call("evm_setAutomine", False)
    hashes = {
        chain.send(address, 1 + place, sender=place % ACCOUNTS, gas=hex(21_000))
        for place in range(PAID)
    }
    chain.mine(1)
    before = watcher_calls(watcher)
    watcher.read()
    assert {deposit.tx_hash for deposit in Deposit.objects.all()} == hashes
    assert sum(deposit.amount_atomic for deposit in Deposit.objects.all()) == sum(
        range(1, PAID + 1)
    )
    assert len({deposit.block_number for deposit in Deposit.objects.all()}) == 1
    assert (
        watcher_calls(watcher) - before <= 3 * 2 + 6
    )  # two blocks, the tip, the node's identity, where to begin


def watcher_calls(watcher: Reader) -> int:
    return watcher.watcher.nodes.calls_made if watcher.watcher else 0


def test_a_gap_after_downtime_is_read_block_by_block(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    watcher.read()
    watcher.restart()
    hashes = set()
    for _ in range(5):
        hashes.add(chain.pay(address, 10))
        chain.mine(11)
    watcher.read()
    assert {deposit.tx_hash for deposit in Deposit.objects.filter(status="confirmed")} == hashes
    assert Head.objects.get().number == chain.height == Block.objects.count() - 1
    blocks_are_linked()


def test_each_block_may_be_the_last_before_a_restart(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    for place in range(6):
        chain.pay(address, 10 + place)
        watcher.read()
        watcher.restart()
    assert sorted(deposit.amount_atomic for deposit in Deposit.objects.all()) == [
        10,
        11,
        12,
        13,
        14,
        15,
    ]
    blocks_are_linked()


def test_a_watcher_at_the_tip_says_until_when_everything_was_read(
    chain: LocalChain, watcher: Reader
) -> None:
    deadline = clock.real_now()
    assert not is_caught_up("sepolia", deadline)
    watcher.read()
    assert is_caught_up("sepolia", deadline - BLOCK_ON_ITS_WAY)
    chain.call("evm_increaseTime", 5)
    assert not is_caught_up(
        "sepolia", deadline
    )  # a block that was begun before it may be on its way
    chain.mine()
    watcher.read()
    assert is_caught_up("sepolia", deadline)
    assert not is_caught_up("sepolia", clock.real_now())
    assert not is_caught_up("polygon", clock.real_now())  # of live mode, and nobody reads it


def test_the_first_start_begins_at_the_tip(
    chain: LocalChain, watcher: Reader, settings: Any
) -> None:
    settings.CHAIN_START_BLOCKS = {}
    chain.mine(30)
    watcher.read()
    assert [block.number for block in Block.objects.all()] == [chain.height]


def test_the_first_start_looks_back_when_addresses_are_out_already(
    chain: LocalChain, watcher: Reader, address: str, settings: Any
) -> None:
    settings.CHAIN_START_BLOCKS = {}
    chain.pay(address, 10)
    chain.mine(30)
    watcher.read()
    assert Deposit.objects.get().status == "confirmed"


def test_two_watchers_at_once_do_no_harm(chain: LocalChain, watcher: Reader, address: str) -> None:
    chain.pay(address, 10)
    second = Reader()
    for _ in range(3):
        watcher.read()
        chain.pay(address, 10)
        second.read()
        chain.mine(1)
    second.read()
    watcher.read()
    assert Deposit.objects.count() == 4
    blocks_are_linked()
    second.close()


def test_forwarded_coins_are_in_no_transaction_value(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    """Why balances are looked at: an address that isn't watched that way misses them."""
    chain.put(FORWARDER, CONTRACT)
    chain.through(CONTRACT, 10**15, address)
    chain.mine(12)
    watcher.read()
    assert int(chain.call("eth_getBalance", address, "latest"), 16) == 10**15
    assert not Deposit.objects.exists()
