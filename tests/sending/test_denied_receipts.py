"""A receipt of ours counts when the header of its block commits to it: a node that tells another
one is not believed, and another is asked."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.chain.models import OutgoingTransaction
from apps.chain.networks.evm import block_receipts
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


def test_blocks_that_contradict_their_headers_are_asked_for_once_a_round_as_well(
    world: World, proxy: Proxy
) -> None:
    """As often as one block is, however many transfers of ours it has."""
    world.automine(False)
    rows = [world.ask(5) for _ in range(3)]
    world.work()
    world.automine(True)
    world.mine(5)
    lie(proxy, failed)
    proxy.calls.clear()
    sender.run_due()
    assert {status(row) for row in rows} == {"submitted"}
    assert proxy.calls.count(ALL_RECEIPTS) == block_receipts.TRIES_MAX
    proxy.changes.clear()
    sender.run_due()
    assert {status(row) for row in rows} == {"confirmed"}


def test_a_block_that_a_node_refuses_to_tell_holds_up_no_other(world: World, proxy: Proxy) -> None:
    """Some answer a block that they don't have with an error."""
    first = world.ask(5)
    world.work()
    sent = world.rpc(RECEIPT, fresh(first).tx_hash)["blockHash"]
    proxy.refusal_of = lambda method, given: (
        (-32000, "header not found")
        if method == "eth_getBlockByHash" and given[0] == sent
        else None
    )
    other = world.ask(6)
    world.work()
    world.mine(5)
    sender.run_due()
    assert (status(first), status(other)) == ("submitted", "confirmed")
    proxy.refusal_of = lambda *asked: None
    sender.run_due()
    assert status(first) == "confirmed"


def test_a_node_that_tells_no_fees_beside_all_receipts_ends_a_transfer(
    world: World, proxy: Proxy
) -> None:
    """Its receipt isn't in any root: its own answer is taken."""
    row = buried(world)

    def without_fees(receipt: Any) -> Any:
        return {key: receipt[key] for key in receipt if key not in ("effectiveGasPrice", "l1Fee")}

    proxy.lie(RECEIPT, lambda receipt: receipt and {**receipt, "l1Fee": "0x7"})
    proxy.lie(ALL_RECEIPTS, lambda receipts: [without_fees(receipt) for receipt in receipts])
    sender.run_due()
    ended = fresh(row)
    receipt = world.rpc(RECEIPT, ended.tx_hash)
    gas = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
    assert (ended.status, ended.network_fee_atomic) == ("confirmed", gas + 7)
