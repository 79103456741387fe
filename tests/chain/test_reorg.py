"""When the chain goes back: what is lost fails, what is mined again is the same deposit, and what
was credited is never lost silently."""

import logging
from typing import Any

import pytest

from apps.chain.metrics import ChainCollector
from apps.chain.models import Block, Deposit, Head
from apps.chain.services import mark_unmatched
from apps.chain.watching.reorg import TooDeep
from apps.core import clock
from tests.chain.conftest import Reader
from tests.chain.local import LOGGER, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import STRANGER, USDC, Woken, blocks_are_linked

pytestmark = pytest.mark.chain


def handled() -> None:
    """The part of the app above: it has acted upon every deposit as recorded."""
    for deposit in Deposit.objects.all():
        Deposit.objects.filter(pk=deposit.pk).update(handled_status=deposit.status)


def only() -> Deposit:
    return Deposit.objects.get()


def alerts(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.msg["event"]
        for record in caplog.records
        if record.levelno >= logging.ERROR and isinstance(record.msg, dict)
    ]


def test_blocks_are_replaced_down_to_the_common_ancestor(
    chain: LocalChain, watcher: Reader
) -> None:
    chain.mine(45)
    watcher.read()
    replaced = 0
    for depth in (1, 2, 3, 6, 12, 40):
        chain.reorg(depth)
        watcher.read()
        replaced += depth
        assert Block.objects.filter(is_canonical=False).count() == replaced, depth
        assert Head.objects.get().hash == chain.block(chain.height)["hash"], depth
        blocks_are_linked()


@pytest.mark.parametrize("depth", [1, 3])
def test_a_deposit_lost_before_its_confirmations_fails(
    chain: LocalChain,
    watcher: Reader,
    address: str,
    depth: int,
    woken: Woken,
    caplog: pytest.LogCaptureFixture,
) -> None:
    chain.mine(5)
    chain.pay(address, 10)
    chain.mine(depth - 1 if depth == 1 else 1)
    watcher.read()
    handled()
    chain.reorg(depth)
    assert woken(watcher.read) == [str(only().pk)]
    assert (only().status, only().is_lost, only().handled_status) == ("failed", False, "confirming")
    assert only().failed_at is not None
    assert "deposit_lost" not in alerts(caplog)


def test_a_deposit_mined_again_in_the_same_reorg_stays_and_confirms_anew(
    chain: LocalChain, watcher: Reader, address: str, woken: Woken
) -> None:
    chain.mine(3)
    tx_hash = chain.pay(address, 10)
    chain.mine(1)
    watcher.read()
    first = only()
    chain.reorg(2, (chain.raw(tx_hash), 1))
    assert woken(watcher.read) == [str(first.pk)]
    assert (only().pk, only().status, only().failed_at) == (first.pk, "confirming", None)
    assert only().block_number == first.block_number + 1 and only().block_hash != first.block_hash
    chain.mine(1)
    watcher.read()
    assert only().status == "confirming"
    chain.mine(1)
    watcher.read()
    assert only().status == "confirmed"
    blocks_are_linked()


def test_a_deposit_mined_again_later_comes_back(
    chain: LocalChain, watcher: Reader, address: str, woken: Woken
) -> None:
    chain.mine(3)
    tx_hash = chain.pay(address, 10)
    raw = chain.raw(tx_hash)
    watcher.read()
    chain.reorg(1)
    watcher.read()
    handled()
    assert only().status == "failed"
    chain.mine(4)
    watcher.read()
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    assert woken(watcher.read) == [str(only().pk)]
    assert (only().status, only().handled_status, only().failed_at) == (
        "confirming",
        "failed",
        None,
    )
    chain.mine(2)
    watcher.read()
    assert only().status == "confirmed"


def test_a_deposit_lost_after_it_was_credited_is_an_alert(
    chain: LocalChain, watcher: Reader, address: str, woken: Woken, caplog: pytest.LogCaptureFixture
) -> None:
    chain.mine(3)
    chain.pay(address, 10)
    chain.mine(3)
    watcher.read()
    handled()
    assert only().status == "confirmed"
    chain.reorg(6)
    assert woken(watcher.read) == [str(only().pk)]
    assert (only().status, only().is_lost, only().handled_status) == ("failed", True, "confirmed")
    assert "deposit_lost" in alerts(caplog)


def test_a_deposit_lost_before_anybody_acted_upon_it_is_no_alert_and_confirms_anew(
    chain: LocalChain, watcher: Reader, address: str, woken: Woken, caplog: pytest.LogCaptureFixture
) -> None:
    chain.mine(3)
    raw = chain.raw(chain.pay(address, 10))
    chain.mine(3)
    watcher.read()
    assert (only().status, only().handled_status) == ("confirmed", "")
    chain.reorg(6)
    watcher.read()
    assert (only().status, only().is_lost, only().handled_status) == ("failed", False, "")
    assert "deposit_lost" not in alerts(caplog)
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    watcher.read()
    assert only().status == "confirming"
    chain.mine(2)
    assert woken(watcher.read) == [str(only().pk)]
    assert (only().status, only().handled_status, only().failed_at) == ("confirmed", "", None)
    assert "deposit_found_again" not in alerts(caplog)


def test_a_deposit_nobody_acted_upon_that_moved_to_another_block_confirms_anew(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.mine(3)
    tx_hash = chain.pay(address, 10)
    chain.mine(3)
    watcher.read()
    chain.reorg(6, (chain.raw(tx_hash), 5))
    watcher.read()
    assert (only().status, only().handled_status) == ("confirming", "")
    chain.mine(2)
    watcher.read()
    assert only().status == "confirmed"


def test_a_credited_deposit_that_moved_to_another_block_is_not_credited_again(
    chain: LocalChain, watcher: Reader, address: str, woken: Woken, caplog: pytest.LogCaptureFixture
) -> None:
    chain.mine(3)
    tx_hash = chain.pay(address, 10)
    chain.mine(3)
    watcher.read()
    handled()
    chain.reorg(6, (chain.raw(tx_hash), 5))
    watcher.read()
    assert (only().status, only().handled_status, only().is_lost) == (
        "confirmed",
        "confirmed",
        False,
    )
    assert only().block_number == chain.height
    assert "deposit_lost" not in alerts(caplog)
    chain.mine(4)
    watcher.read()
    assert (only().status, only().handled_status) == ("confirmed", "confirmed")


def test_a_lost_deposit_that_comes_back_counts_again_without_being_booked_again(
    chain: LocalChain, watcher: Reader, address: str, woken: Woken, caplog: pytest.LogCaptureFixture
) -> None:
    chain.mine(3)
    raw = chain.raw(chain.pay(address, 10))
    chain.mine(3)
    watcher.read()
    handled()
    chain.reorg(6)
    watcher.read()
    handled()
    chain.wait(chain.call("eth_sendRawTransaction", raw))
    assert (only().status, only().is_lost) == ("failed", True)
    chain.mine(1)
    watcher.read()
    assert (only().status, only().is_lost) == ("failed", True)
    chain.mine(1)
    watcher.read()
    assert (only().status, only().handled_status, only().is_lost, only().failed_at) == (
        "confirmed",
        "confirmed",
        False,
        None,
    )
    assert "deposit_found_again" in alerts(caplog)


def test_tokens_with_another_log_number_in_the_new_block_are_the_same_deposits(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    paid = chain.log_transfers(USDC, (address, 5), (address, 7), (address, 5))
    watcher.read()
    before = {(deposit.pk, deposit.amount_atomic) for deposit in Deposit.objects.all()}
    ahead = {
        "from": chain.accounts[4],
        "to": USDC,
        "data": "0x" + "0" * 24 + STRANGER[2:] + "1".rjust(64, "0"),
    }
    chain.reorg(1, (ahead, 0), (chain.raw(paid), 0))
    watcher.read()
    rows = Deposit.objects.order_by("log_index")
    assert {(row.pk, row.amount_atomic) for row in rows} == before
    assert {row.status for row in rows} == {"confirming"}
    first = rows[0].log_index
    assert [(row.log_index, row.amount_atomic) for row in rows] == [
        (first, 5),
        (first + 1, 7),
        (first + 2, 5),
    ]


def test_a_replaced_transaction_fails_and_the_other_is_seen(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.mine(2)
    lost = chain.pay(address, 10, sender=2)
    watcher.read()
    chain.reorg(1, ({"from": chain.accounts[2], "to": address, "value": "0x14"}, 0))
    watcher.read()
    assert {
        (deposit.tx_hash == lost, deposit.amount_atomic, deposit.status)
        for deposit in Deposit.objects.all()
    } == {
        (True, 10, "failed"),
        (False, 20, "confirming"),
    }


def test_a_chain_that_swings_back_to_the_old_branch_gives_the_deposit_back(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, twin: LocalChain
) -> None:
    chain.mine(2)
    twin.call("anvil_loadState", chain.call("anvil_dumpState"))
    chain.pay(address, 10)
    watcher.read()
    first = only()
    proxy.target = twin.url
    watcher.read()
    assert only().status == "confirming"  # a shorter branch is not followed
    twin.mine(1)
    watcher.read()
    assert only().status == "failed"
    proxy.target = chain.url
    watcher.read()
    assert (only().pk, only().status, only().block_hash) == (
        first.pk,
        "confirming",
        first.block_hash,
    )
    assert not only().is_lost
    blocks_are_linked()


def test_a_reorg_during_downtime_is_noticed_at_the_next_start(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.mine(3)
    chain.pay(address, 10)
    chain.mine(1)
    watcher.read()
    watcher.restart()
    chain.reorg(3)
    chain.mine(30)
    paid = chain.pay(address, 20)
    watcher.read()
    assert {(deposit.amount_atomic, deposit.status) for deposit in Deposit.objects.all()} == {
        (10, "failed"),
        (20, "confirming"),
    }
    assert Deposit.objects.get(status="confirming").tx_hash == paid
    blocks_are_linked()


def test_even_the_first_block_that_was_read_may_be_replaced(
    chain: LocalChain, watcher: Reader, settings: Any
) -> None:
    settings.CHAIN_START_BLOCKS = {"sepolia": 10}
    chain.mine(10)
    watcher.read()
    chain.mine(2)
    chain.reorg(6)
    watcher.read()
    assert Head.objects.get().hash == chain.block(chain.height)["hash"]
    blocks_are_linked()


def test_what_was_set_aside_for_staff_stays_set_aside(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.mine(2)
    tx_hash = chain.pay(address, 10)
    watcher.read()
    mark_unmatched(only(), "another asset", clock.real_now())
    chain.reorg(1, (chain.raw(tx_hash), 0))
    chain.mine(5)
    watcher.read()
    assert (only().status, only().handled_status) == ("unmatched", "unmatched")


def test_a_branch_without_any_common_block_is_not_followed_and_is_an_alert(
    chain: LocalChain, watcher: Reader, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    chain.mine(2)
    chain.pay(address, 10)
    chain.mine(5)
    watcher.read()
    Block.objects.filter(number=2).update(hash="0x" + "1" * 64)
    Block.objects.filter(number=1).update(hash="0x" + "2" * 64)
    Block.objects.filter(number=0).update(hash="0x" + "3" * 64)
    chain.reorg(6)
    with pytest.raises(TooDeep):
        watcher.read()
    assert only().status == "confirmed"
    assert "branch_too_deep" in alerts(caplog)


def test_the_figures_for_operators_name_what_was_lost(
    chain: LocalChain, watcher: Reader, address: str
) -> None:
    chain.mine(2)
    chain.pay(address, 10)
    chain.mine(3)
    watcher.read()
    handled()
    chain.reorg(4)
    watcher.read()
    figures = {
        sample.name: sample.value
        for family in ChainCollector().collect()
        for sample in family.samples
        if sample.labels["chain"] == "sepolia"
    }
    assert figures["tillgate_chain_head"] == chain.height
    assert figures["tillgate_chain_deposits_lost"] == 1
    assert figures["tillgate_chain_lag_seconds"] < 60
