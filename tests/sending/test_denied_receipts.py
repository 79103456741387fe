"""A receipt of ours counts when the header of its block commits to it: a node that tells another
one is not believed, and another is asked."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.chain.models import OutgoingTransaction
from apps.chain.sending import sender
from tests.chain.proxy import Proxy
from tests.sending.conftest import TOKEN, World
from tests.sending.test_doubts import buried, proxy, second
from tests.sending.test_sender import fresh

__all__ = ["proxy", "second"]
pytestmark = pytest.mark.chain
ALL_RECEIPTS, RECEIPT = "eth_getBlockReceipts", "eth_getTransactionReceipt"
Change = Callable[[Any], Any]


def failed(receipt: Any) -> Any:
    return receipt and {**receipt, "status": "0x0", "logs": []}


def more(receipt: Any) -> Any:
    """Another amount than was moved."""
    logs = [{**log, "data": f"0x{int(log['data'], 16) + 1:064x}"} for log in receipt["logs"]]
    return {**receipt, "logs": logs}


def lie(proxy: Proxy, change: Change) -> None:
    proxy.lie(RECEIPT, change)
    proxy.lie(ALL_RECEIPTS, lambda receipts: [change(receipt) for receipt in receipts])


def status(row: OutgoingTransaction) -> str:
    return fresh(row).status


def test_what_arrived_does_not_fail_by_one_nodes_word(world: World, proxy: Proxy) -> None:
    """It would be given back, and sent again."""
    row = buried(world)
    lie(proxy, failed)
    for _ in range(2):
        sender.run_due()
        assert status(row) == "submitted"
    proxy.changes.clear()
    sender.run_due()
    assert status(row) == "confirmed"


def test_another_node_is_asked_at_once(world: World, proxy: Proxy, second: Proxy) -> None:
    row = buried(world)
    lie(proxy, failed)
    sender.run_due()
    assert status(row) == "confirmed" and ALL_RECEIPTS in second.calls


def test_the_receipts_of_all_count_and_not_the_one_that_was_told(
    world: World, proxy: Proxy
) -> None:
    row = buried(world)
    proxy.lie(RECEIPT, failed)
    sender.run_due()
    assert status(row) == "confirmed"


@pytest.mark.parametrize("lacks", [set(), {ALL_RECEIPTS}], ids=["all at once", "one by one"])
def test_another_amount_of_a_token_is_not_believed(
    world: World, proxy: Proxy, token: str, lacks: set[str]
) -> None:
    row = buried(world, asset_id=TOKEN)
    proxy.unknown |= lacks
    lie(proxy, more)
    sender.run_due()
    assert status(row) == "submitted"
    proxy.changes.clear()
    sender.run_due()
    assert status(row) == "confirmed"


def test_a_receipt_of_a_block_that_nobody_knows_is_not_believed(world: World, proxy: Proxy) -> None:
    row = buried(world)
    proxy.lie(RECEIPT, lambda receipt: receipt and {**receipt, "blockHash": "0x" + "1" * 64})
    sender.run_due()
    assert status(row) == "submitted"
    proxy.changes.clear()
    sender.run_due()
    assert status(row) == "confirmed"


def test_a_receipt_of_another_block_is_not_believed(world: World, proxy: Proxy) -> None:
    row = buried(world)
    other = world.rpc("eth_getBlockByNumber", "latest", False)["hash"]
    proxy.lie(RECEIPT, lambda receipt: receipt and {**receipt, "blockHash": other})
    sender.run_due()
    assert status(row) == "submitted"
    proxy.changes.clear()
    sender.run_due()
    assert status(row) == "confirmed"


@pytest.mark.parametrize(
    "change",
    [
        lambda block: block and {**block, "receiptsRoot": "0x" + "0" * 64},
        lambda block: block and {key: block[key] for key in block if key != "receiptsRoot"},
    ],
)
def test_a_chain_whose_headers_have_no_root_goes_on(
    world: World, proxy: Proxy, change: Change
) -> None:
    row = buried(world)
    proxy.lie("eth_getBlockByHash", change)
    sender.run_due()
    assert status(row) == "confirmed"


def test_blocks_are_asked_for_once_a_round(world: World, proxy: Proxy) -> None:
    world.automine(False)
    rows = [world.ask(5) for _ in range(3)]
    world.work()
    world.automine(True)
    world.mine(5)
    proxy.calls.clear()
    sender.run_due()
    assert {status(row) for row in rows} == {"confirmed"}
    assert proxy.calls.count(ALL_RECEIPTS) == 1
