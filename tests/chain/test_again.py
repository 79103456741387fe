"""Blocks are read again, by an operator's command and by what customers say they have sent, and
nothing is booked twice."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.assets.models import AcceptedAsset, Asset
from apps.chain.models import Address, Block, BlockToRead, Deposit, UnexplainedBalance
from apps.chain.watching import again as again_module
from apps.core import clock
from apps.payments.models import Payment
from apps.payments.services.settle import settle_deposits
from apps.payments.services.transaction_lookup import LookupResult, find_transaction
from apps.stores.models import AuditEntry
from tests import auditing, make
from tests.cast import Shop
from tests.chain.conftest import Reader
from tests.chain.local import FORWARDER, LOGGER, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import CONTRACT, USDC
from tests.chain.test_payment_flow import entry

pytestmark = pytest.mark.chain
# A filter that says nothing: the header doesn't contradict what the node leaves out.
SILENT_BLOOM = "0x" + "0" * 512


def again(*arguments: object) -> str:
    out = StringIO()
    call_command("watch_chains", "--again", *map(str, arguments), stdout=out)
    return out.getvalue()


def take_dollars(shop: Shop, contract: str) -> None:
    """The store takes this token too."""
    Asset.objects.filter(pk="USDC_SETH").update(contract_address=contract, is_active=True)
    AcceptedAsset.objects.get_or_create(
        store=shop.store,
        mode="test",
        asset_id="USDC_SETH",
        defaults={"created_at": clock.real_now()},
    )


def leave_out(proxy: Proxy) -> None:
    """Blocks have no logs, and nothing in their headers' filters."""
    proxy.lie("eth_getBlockByNumber", lambda block: block and {**block, "logsBloom": SILENT_BLOOM})
    proxy.lie("eth_getLogs", lambda logs: [])


@pytest.fixture
def missed(
    chain: LocalChain, proxy: Proxy, watcher: Reader, bakery: Shop
) -> tuple[Payment, str, int]:
    """A payment in USDC whose block was read without its log; the transaction and the block."""
    take_dollars(bakery, USDC)
    payment = make.payment(bakery.test)
    way = entry(payment, "USDC_SETH")
    chain.put(LOGGER, USDC)
    leave_out(proxy)
    tx_hash = chain.log_transfers(USDC, (way["address"], int(way["crypto_amount_atomic"])))
    number = chain.height
    chain.mine(3)
    watcher.read()
    proxy.changes.clear()
    assert not Deposit.objects.exists()
    return Payment.objects.select_related("store").get(pk=payment["id"]), tx_hash, number


def test_an_operator_has_blocks_read_again(missed: tuple[Payment, str, int]) -> None:
    payment, tx_hash, number = missed
    text = again("sepolia", number - 1, number + 2)
    assert f"block {number}: " in text and tx_hash in text and "1 deposit" in text
    assert "No new deposits" in again("sepolia", number - 1, number + 2)
    settle_deposits()
    payment.refresh_from_db()
    assert (payment.status, Deposit.objects.count()) == ("completed", 1)


def test_an_audit_says_at_which_address_the_coins_are(
    chain: LocalChain, proxy: Proxy, watcher: Reader, bakery: Shop
) -> None:
    """And once their block was read again it has nothing to say."""
    token = chain.deploy_token()
    take_dollars(bakery, token)
    way = entry(make.payment(bakery.test), "USDC_SETH")
    chain.mint(token, chain.accounts[0], 10**9)
    proxy.lie("eth_getBlockByNumber", lambda block: block and {**block, "logsBloom": SILENT_BLOOM})
    proxy.lie("eth_getLogs", lambda logs: [])
    chain.transfer(token, way["address"], 5_000_000)
    number = chain.height
    chain.mine(3)
    watcher.read()
    proxy.changes.clear()
    (finding,) = auditing.breaches(check_chain=True)
    assert f"{way['address'].lower()} +5000000" in finding.detail
    again("sepolia", number, number)
    settle_deposits()
    assert auditing.breaches(check_chain=True) == []


def test_an_operator_looks_at_an_address_of_an_old_payment(
    chain: LocalChain, watcher: Reader, bakery: Shop
) -> None:
    """A contract's coins a day after the end: the watcher doesn't look there any more."""
    address = entry(make.payment(bakery.test))["address"].lower()
    Address.objects.update(watch_balance_until=clock.real_now() - timedelta(days=1))
    chain.put(FORWARDER, CONTRACT)
    tx_hash = chain.through(CONTRACT, 70, address)
    chain.mine(12)
    watcher.read()
    assert not Deposit.objects.exists()
    assert looked(address) == "1 deposit recorded\n"
    assert looked(address) == "No new deposits\n"
    assert Deposit.objects.get().tx_hash == tx_hash
    with pytest.raises(CommandError, match="No payment has the address"):
        looked(CONTRACT)


def looked(address: str) -> str:
    out = StringIO()
    call_command("watch_chains", "--look", address, stdout=out)
    return out.getvalue()


def test_an_operator_accepts_what_nothing_explains(
    chain: LocalChain, watcher: Reader, bakery: Shop, settings: Any
) -> None:
    settings.CHAIN_BALANCE_CHECK_BLOCKS = 1
    address = entry(make.payment(bakery.test))["address"].lower()
    watcher.read()
    chain.call("anvil_setBalance", address, hex(70))  # as a withdrawal of a validator comes
    chain.mine(2)
    watcher.read()
    row = UnexplainedBalance.objects.get(settled_at=None)
    assert (row.address_id, row.amount_atomic) == (address, 70)
    for words, arguments in {
        "Give a reason": [str(row.pk)],
        "is a number": ["x", "--reason", "y"],
        "is open": [str(row.pk + 1), "--reason", "y"],
    }.items():
        with pytest.raises(CommandError, match=words):
            call_command("watch_chains", "--accept", *arguments)
    arguments = ["--accept", str(row.pk), "--reason", "A validator's"]
    call_command("watch_chains", *arguments, stdout=StringIO())
    assert AuditEntry.objects.get(action="unexplained_balance.accepted").reason == "A validator's"
    chain.mine(2)
    watcher.read()
    assert not UnexplainedBalance.objects.filter(settled_at=None).exists()
    assert not Deposit.objects.exists()


def test_what_the_customer_names_has_its_block_read_again(
    watcher: Reader, missed: tuple[Payment, str, int]
) -> None:
    payment, tx_hash, number = missed
    for _ in range(2):
        assert find_transaction(payment, tx_hash).result == LookupResult.NOTED
    assert [row.number for row in BlockToRead.objects.all()] == [number]
    watcher.read()
    assert not BlockToRead.objects.exists()
    settle_deposits()
    assert find_transaction(payment, tx_hash).result == LookupResult.COUNTED
    payment.refresh_from_db()
    assert (payment.status, Deposit.objects.count()) == ("completed", 1)


def test_a_node_that_leaves_it_out_again_is_not_believed(
    chain: LocalChain, proxy: Proxy, watcher: Reader, missed: tuple[Payment, str, int]
) -> None:
    payment, tx_hash, number = missed
    leave_out(proxy)
    with pytest.raises(CommandError, match="receipts"):
        again("sepolia", number, number)
    find_transaction(payment, tx_hash)
    for _ in range(2):
        chain.mine()
        watcher.read()
        assert [row.number for row in BlockToRead.objects.all()] == [number]
    proxy.changes.clear()
    chain.mine()
    watcher.read()
    assert Deposit.objects.get().tx_hash == tx_hash and not BlockToRead.objects.exists()


def test_a_block_that_can_not_be_read_holds_up_no_other(
    chain: LocalChain, proxy: Proxy, watcher: Reader, missed: tuple[Payment, str, int]
) -> None:
    payment, tx_hash, number = missed
    find_transaction(payment, tx_hash)
    good = Block.objects.get(number=number)
    BlockToRead.objects.create(
        chain_id="sepolia", number=10**9, asked_at=good.mined_at, tried_at=good.mined_at
    )
    watcher.read()
    assert [row.number for row in BlockToRead.objects.all()] == [10**9]
    assert Deposit.objects.get().tx_hash == tx_hash
    assert chain.height == good.number + 3


def test_a_block_that_a_reorg_took_is_asked_for_a_day(
    chain: LocalChain, proxy: Proxy, watcher: Reader, missed: tuple[Payment, str, int]
) -> None:
    """And the node has nothing in its place."""
    payment, tx_hash, number = missed
    find_transaction(payment, tx_hash)
    proxy.lie(
        "eth_getBlockByNumber",
        lambda block: block and (None if int(block["number"], 16) == number else block),
    )
    for _ in range(2):
        chain.mine()
        watcher.read()
        assert BlockToRead.objects.get().number == number
    BlockToRead.objects.update(asked_at=clock.real_now() - timedelta(hours=25))
    chain.mine()
    watcher.read()
    assert not BlockToRead.objects.exists()


def test_a_block_from_before_the_first_that_was_read_is_not_asked_for_again(
    chain: LocalChain, watcher: Reader, settings: Any
) -> None:
    chain.mine(5)
    settings.CHAIN_START_BLOCKS = {"sepolia": chain.height}
    chain.mine(2)
    watcher.read()
    again_module.ask("sepolia", [1])
    chain.mine()
    watcher.read()
    assert not BlockToRead.objects.exists()


def test_a_node_with_another_block_is_not_believed(
    chain: LocalChain, missed: tuple[Payment, str, int]
) -> None:
    number = missed[2]
    chain.reorg(3 + 1)
    with pytest.raises(CommandError, match=f"another block {number}"):
        again("sepolia", number, number)
    assert not Deposit.objects.exists()


def test_it_says_what_can_not_be_read(chain: LocalChain, watcher: Reader) -> None:
    chain.mine(3)
    watcher.read()
    for arguments, words in UNREADABLE:
        with pytest.raises(CommandError, match=words):
            again(*arguments)


UNREADABLE: list[tuple[tuple[object, ...], str]] = [
    (("nowhere", 1, 2), "no chain"),
    (("sepolia", 2, 1), "comes after"),
    (("sepolia", 0, 10**6), "were read"),
    (("sepolia", "one", 2), "number"),
]


def test_native_coins_that_were_booked_as_the_blocks_are_not_booked_again(
    chain: LocalChain, proxy: Proxy, watcher: Reader, bakery: Shop, settings: Any
) -> None:
    """Their transaction was left out, and what the address held was booked by its balance."""
    settings.CHAIN_BALANCE_CHECK_BLOCKS = 1
    payment = make.payment(bakery.test)
    address = entry(payment)["address"]
    watcher.read()
    proxy.unknown |= {"eth_getBlockTransactionCountByHash", "debug_traceBlockByHash"}
    root = "0x" + "0" * 64
    proxy.lie(
        "eth_getBlockByNumber",
        lambda block: block and {**block, "transactions": [], "transactionsRoot": root},
    )
    chain.pay(address, 1000)
    number = chain.height
    chain.mine(2)
    watcher.read()
    assert [row.log_index for row in Deposit.objects.all()] == [-2]
    proxy.changes.clear()
    proxy.unknown.clear()
    assert "No new deposits" in again("sepolia", number, number)
    assert Deposit.objects.get().amount_atomic == 1000
    settle_deposits()
    assert auditing.breaches() == []


def test_a_transaction_that_was_left_out_is_found_by_the_balance(
    chain: LocalChain, proxy: Proxy, watcher: Reader, bakery: Shop, settings: Any
) -> None:
    """And its block, read again, tells who sent it."""
    settings.CHAIN_BALANCE_CHECK_BLOCKS = 10
    address = entry(make.payment(bakery.test))["address"]
    watcher.read()
    chain.mine(9 - chain.height % 10 - 1)
    watcher.read()
    proxy.unknown.add("eth_getBlockTransactionCountByHash")
    root = "0x" + "0" * 64
    proxy.lie(
        "eth_getBlockByNumber",
        lambda block: block and {**block, "transactions": [], "transactionsRoot": root},
    )
    tx_hash = chain.pay(address, 1000)
    watcher.read()
    assert not Deposit.objects.exists()
    proxy.changes.clear()
    chain.mine(12)
    watcher.read()
    assert [(row.tx_hash, row.log_index) for row in Deposit.objects.all()] == [(tx_hash, -1)]
