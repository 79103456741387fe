"""The receipts of a block that has something of ours are compared with their root in its header:
what contradicts it isn't believed, and what can't be compared stops nothing."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from apps.chain.encoding import bloom as blooms
from apps.chain.encoding.keccak import keccak
from apps.chain.encoding.receipts import outside_root
from apps.chain.models import Deposit, Head
from apps.chain.networks.base import Inconsistent
from apps.chain.networks.evm import block_receipts, block_roots
from apps.chain.networks.evm.block_headers import EMPTY_ROOT
from apps.chain.providers import jsonrpc
from apps.chain.watching import again
from apps.core import clock
from tests.chain.conftest import Reader, make_address
from tests.chain.local import FORWARDER, LOGGER, REVERTER, LocalChain, program
from tests.chain.proxy import Proxy
from tests.chain.test_contradictions import amounts
from tests.chain.test_deposits import CONTRACT, USDC, blocks_are_linked

pytestmark = pytest.mark.chain
ALL_RECEIPTS, RECEIPT, LOGS = "eth_getBlockReceipts", "eth_getTransactionReceipt", "eth_getLogs"


def results(result: str) -> float:
    labels = {"chain": "sepolia", "root": "receipts", "result": result}
    return REGISTRY.get_sample_value("tillgate_chain_roots_compared_total", labels) or 0.0


def raised(log: Any) -> Any:
    """A log that says more than was moved: address and topics are as before, and so is the
    filter."""
    return {**log, "data": f"0x{int(log['data'], 16) * 1000:064x}"}


def in_receipt(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda receipt: (
        receipt and {**receipt, "logs": [change(entry) for entry in receipt["logs"]]}
    )


def lies_about_logs(proxy: Proxy, change: Callable[[Any], Any]) -> None:
    """Of logs and of receipts alike."""
    tell = in_receipt(change)
    proxy.lie(LOGS, lambda logs: [change(log) for log in logs])
    proxy.lie(RECEIPT, tell)
    proxy.lie(ALL_RECEIPTS, lambda receipts: [tell(receipt) for receipt in receipts])


def is_refused(watcher: Reader, proxy: Proxy, *told_then: int) -> None:
    """Nothing is booked and the head stays, as long as the node says so; then the truth is."""
    head = Head.objects.get().number
    for _ in range(2):
        with pytest.raises(Inconsistent):
            watcher.read()
        assert Head.objects.get().number == head and not Deposit.objects.exists()
    proxy.changes.clear()
    watcher.read()
    assert amounts() == sorted(told_then)
    blocks_are_linked()


@pytest.mark.parametrize("lacks", [set(), {ALL_RECEIPTS}], ids=["all at once", "one by one"])
def test_an_amount_that_was_raised_in_a_log_is_refused(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, lacks: set[str]
) -> None:
    chain.put(LOGGER, USDC)
    watcher.read()
    proxy.unknown |= lacks
    contradictions = results("contradicts")
    lies_about_logs(proxy, raised)
    chain.log_transfers(USDC, (address, 5), (make_address(), 6))
    is_refused(watcher, proxy, 5, 6)
    assert results("contradicts") == contradictions + 2


def test_an_amount_that_was_raised_in_the_list_of_logs_alone_is_refused(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    watcher.read()
    proxy.lie(LOGS, lambda logs: [raised(log) for log in logs])
    chain.log_transfers(USDC, (address, 5))
    is_refused(watcher, proxy, 5)


def test_coins_that_went_to_somebody_else_are_refused(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    """The address is in the block's filter, as the sender of another transfer might be."""
    chain.put(LOGGER, USDC)
    watcher.read()
    other = make_address()
    swapped = {
        f"0x{receiver[2:]:0>64}": f"0x{instead[2:]:0>64}"
        for receiver, instead in ((address, other), (other, address))
    }

    def exchanged(log: Any) -> Any:
        return {**log, "topics": [*log["topics"][:2], swapped[log["topics"][2]]]}

    lies_about_logs(proxy, exchanged)
    chain.log_transfers(USDC, (address, 5), (other, 6))
    is_refused(watcher, proxy, 5, 6)
    assert Deposit.objects.get(amount_atomic=5).address_id == address


def test_one_of_several_transfers_of_a_busy_block_that_is_left_out_is_refused(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    watcher.read()

    def busy(block: Any) -> Any:
        crowd = int(block["logsBloom"], 16)
        for number in range(200):
            crowd |= blooms.of_item(f"0x{number:064x}")
        return {**block, "logsBloom": f"0x{crowd:0512x}"}

    proxy.lie("eth_getBlockByNumber", lambda block: block and busy(block))
    proxy.lie(LOGS, lambda logs: logs[1:])
    chain.log_transfers(USDC, (address, 5), (address, 6), (make_address(), 7))
    is_refused(watcher, proxy, 5, 6, 7)


def test_coins_of_a_transaction_that_was_reverted_are_refused(
    chain: LocalChain, proxy: Proxy, watcher: Reader
) -> None:
    """A node says that it succeeded."""
    paid = make_address()
    chain.put(REVERTER, paid)
    watcher.read()
    reverted = chain.send(paid, 10)
    chain.wait(reverted)
    assert chain.call(RECEIPT, reverted)["status"] == "0x0"

    def succeeded(receipt: Any) -> Any:
        return receipt and {**receipt, "status": "0x1"}

    proxy.lie(RECEIPT, succeeded)
    proxy.lie(ALL_RECEIPTS, lambda receipts: [succeeded(receipt) for receipt in receipts])
    is_refused(watcher, proxy)


LISTS: list[Callable[[Any], Any]] = [
    lambda receipts: receipts[1:],
    lambda receipts: receipts[:-1],
    lambda receipts: [*receipts[1:], receipts[0]],
    lambda receipts: [*receipts, receipts[-1]],
    lambda receipts: [{**item, "transactionIndex": "0x0"} for item in reversed(receipts)],
    lambda receipts: [{**item, "transactionHash": "0x" + "1" * 64} for item in receipts],
    lambda receipts: [{**item, "blockHash": "0x" + "1" * 64} for item in receipts],
    lambda receipts: [None for _ in receipts],
]


@pytest.mark.parametrize("change", LISTS[:2] + LISTS[3:])
def test_a_list_of_receipts_that_is_not_the_blocks_is_refused(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, change: Callable[[Any], Any]
) -> None:
    watcher.read()
    chain.call("evm_setAutomine", False)
    for amount in (1, 2, 3):
        chain.send(address, amount, sender=amount)
    chain.mine()
    proxy.lie(ALL_RECEIPTS, change)
    is_refused(watcher, proxy, 1, 2, 3)


def test_receipts_may_be_told_in_any_order(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.call("evm_setAutomine", False)
    for amount in (1, 2, 3):
        chain.send(address, amount, sender=amount)
    chain.mine()
    proxy.lie(ALL_RECEIPTS, LISTS[2])
    watcher.read()
    assert amounts() == [1, 2, 3]


def test_another_node_is_asked_instead(
    chain: LocalChain, proxy: Proxy, second: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    watcher.read()
    lies_about_logs(proxy, raised)
    chain.log_transfers(USDC, (address, 5))
    with pytest.raises(Inconsistent):
        watcher.read()
    watcher.read()
    assert amounts() == [5] and ALL_RECEIPTS in second.calls


def test_a_block_that_is_read_again_is_compared_as_well(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    chain.log_transfers(USDC, (address, 5))
    watcher.read()
    Deposit.objects.all().delete()
    again.ask("sepolia", [chain.height])
    lies_about_logs(proxy, raised)
    watcher.read()
    assert not Deposit.objects.exists()
    proxy.changes.clear()
    watcher.read()
    assert amounts() == [5]


def test_blocks_without_anything_of_ours_are_not_asked_about(
    chain: LocalChain, proxy: Proxy, watcher: Reader
) -> None:
    chain.put(LOGGER, USDC)
    watcher.read()
    chain.log_transfers(USDC, ("0x" + "77" * 20, 5))
    chain.pay("0x" + "77" * 20, 5)
    watcher.read()
    assert not {ALL_RECEIPTS, RECEIPT} & set(proxy.calls)


# --- what says nothing ------------------------------------------------------------------------


def of_headers(proxy: Proxy, **fields: Any) -> None:
    proxy.lie("eth_getBlockByNumber", lambda block: block and {**block, **fields})


def unknown_kind(receipts: list[Any]) -> list[Any]:
    return [{**receipt, "type": "0x55", "onlyHere": "0x1"} for receipt in receipts]


def without_fields(receipts: list[Any]) -> list[Any]:
    """Receipts as anvil once showed those of the OP stack's own transactions."""
    return [{**receipt, "type": "0x7e"} for receipt in receipts]


def without_gas(receipts: list[Any]) -> list[Any]:
    return [{**receipt, "cumulativeGasUsed": None} for receipt in receipts]


@pytest.mark.parametrize("told", [unknown_kind, without_fields, without_gas])
def test_receipts_that_nobody_here_can_write_stop_nothing(
    chain: LocalChain,
    proxy: Proxy,
    watcher: Reader,
    address: str,
    told: Callable[[list[Any]], list[Any]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    chain.put(LOGGER, USDC)
    block_roots._silent.clear()
    before = results("not_compared")
    proxy.lie(ALL_RECEIPTS, told)
    for amount in (5, 6):
        chain.log_transfers(USDC, (address, amount))
        chain.pay(address, amount)
    watcher.read()
    assert amounts() == [5, 5, 6, 6]
    assert results("not_compared") == before + 4
    assert caplog.text.count("root_not_compared") == 1


@pytest.mark.parametrize(
    "root",
    [
        None,
        "0x",
        "0x" + "0" * 64,
        EMPTY_ROOT,
        "0x" + keccak(b"").hex(),
        "0x" + keccak(b"\xc0").hex(),
    ],
)
def test_a_chain_whose_headers_have_no_root_goes_on(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, root: Any
) -> None:
    """Or the same one in each, as some have that of nothing."""
    chain.put(LOGGER, USDC)
    of_headers(proxy, receiptsRoot=root)
    chain.pay(address, 10)
    chain.log_transfers(USDC, (address, 5))
    watcher.read()
    assert amounts() == [5, 10]


def test_a_node_that_tells_no_receipts_of_others_is_believed_for_tokens(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    proxy.unknown |= {ALL_RECEIPTS, RECEIPT}
    chain.log_transfers(USDC, (address, 5))
    watcher.read()
    assert amounts() == [5]


def test_more_than_a_node_is_asked_for_one_by_one_is_believed(
    chain: LocalChain,
    proxy: Proxy,
    watcher: Reader,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain.put(LOGGER, USDC)
    monkeypatch.setattr(block_receipts, "ALONE_MAX", 0)
    proxy.unknown.add(ALL_RECEIPTS)
    chain.log_transfers(USDC, (address, 5))
    watcher.read()
    assert amounts() == [5] and RECEIPT not in proxy.calls


@pytest.mark.parametrize("is_listed_with_receipts", [True, False])
def test_a_bridges_receipt_that_no_root_has_is_left_out(
    chain: LocalChain,
    proxy: Proxy,
    watcher: Reader,
    address: str,
    is_listed_with_receipts: bool,
) -> None:
    """As Polygon has it: the last of a block's transactions, with a hash of the block's own."""
    chain.put(LOGGER, USDC)
    watcher.read()
    chain.pay(address, 10)
    number = chain.height
    block_hash = chain.block(number)["hash"]
    bridge = outside_root(number, block_hash)
    nobody = "0x" + "0" * 40

    def with_bridge(block: Any) -> Any:
        if not block or block["hash"] != block_hash or isinstance(block["transactions"][0], str):
            return block
        last = {**block["transactions"][-1], "hash": bridge, "from": nobody, "to": nobody}
        return {**block, "transactions": [*block["transactions"], {**last, "value": "0x0"}]}

    def with_receipt(receipts: Any) -> Any:
        last = {**receipts[-1], "transactionHash": bridge, "transactionIndex": "0x1", "logs": []}
        return [*receipts, last]

    proxy.lie("eth_getBlockByNumber", with_bridge)
    if is_listed_with_receipts:
        proxy.lie(ALL_RECEIPTS, with_receipt)
    agreements = results("agrees")
    watcher.read()
    assert amounts() == [10] and results("agrees") == agreements + 1


def test_receipts_of_the_op_stack_are_compared(settings: Any, address: str) -> None:
    """Also those of its own deposit transactions."""
    local = LocalChain(str(program()), "--optimism")
    proxy = Proxy(local.url)
    settings.CHAIN_URLS = {"sepolia": [proxy.url]}
    settings.CHAIN_START_BLOCKS = {"sepolia": 0}
    local.put(LOGGER, USDC)
    watcher = Reader()
    watcher.read()
    agreements = results("agrees")
    deposited: dict[str, Any] = {"type": "0x7e", "sourceHash": "0x" + "11" * 32, "mint": "0x5"}
    local.wait(local.send(address, 10, **deposited, isSystemTx=False))
    local.log_transfers(USDC, (address, 5))
    watcher.read()
    assert amounts() == [5, 10] and results("agrees") == agreements + 2
    lies_about_logs(proxy, raised)
    local.log_transfers(USDC, (address, 6))
    with pytest.raises(Inconsistent):
        watcher.read()
    assert amounts() == [5, 10]
    watcher.close()
    proxy.close()
    local.close()


def test_what_a_contract_sent_is_compared_as_well(
    chain: LocalChain, proxy: Proxy, watcher: Reader
) -> None:
    until = clock.real_now() + timedelta(days=1)
    paid = make_address(native_chain="sepolia", watch_balance_until=until)
    chain.put(FORWARDER, CONTRACT)
    watcher.read()
    proxy.lie(
        ALL_RECEIPTS,
        lambda receipts: [{**receipt, "cumulativeGasUsed": "0x1"} for receipt in receipts],
    )
    chain.through(CONTRACT, 10, paid)
    chain.mine(12)
    watcher.read()
    assert not Deposit.objects.exists()
    proxy.changes.clear()
    chain.mine(12)
    watcher.read()
    assert amounts() == [10]


def test_an_operator_may_name_a_chain_that_goes_on_without(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, settings: Any
) -> None:
    chain.put(LOGGER, USDC)
    lies_about_logs(proxy, lambda log: {**log, "logIndex": "0x0"})
    proxy.lie(ALL_RECEIPTS, lambda receipts: [{**item, "status": "0x0"} for item in receipts])
    chain.log_transfers(USDC, (address, 5))
    with pytest.raises(Inconsistent):
        watcher.read()
    settings.CHAIN_UNCOMPARED_ROOTS = ["sepolia"]
    watcher.read()
    assert amounts() == [5]


def nothing(receipts: Any) -> Any:
    return None


@pytest.mark.parametrize("told", [nothing, lambda receipts: []])
def test_a_node_that_is_late_with_the_receipts_of_a_block_is_asked_again(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, told: Callable[[Any], Any]
) -> None:
    """Behind one address of a provider are many nodes, some of them late: that contradicts nothing,
    and isn't asked for each of the block's transactions."""
    chain.put(LOGGER, USDC)
    watcher.read()
    chain.call("evm_setAutomine", False)
    for amount in (1, 2, 3):
        chain.send(address, amount, sender=amount)
    chain.mine()
    contradictions = results("contradicts")
    proxy.lie(ALL_RECEIPTS, told)
    proxy.lie(RECEIPT, nothing)
    is_refused(watcher, proxy, 1, 2, 3)
    assert results("contradicts") == contradictions
    assert proxy.calls.count(RECEIPT) <= 2


def test_receipts_that_are_too_many_for_one_answer_are_asked_for_one_by_one(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one busy block, which would hold up all that come after it."""
    chain.put(LOGGER, USDC)
    watcher.read()
    monkeypatch.setattr(jsonrpc, "ANSWER_BYTES_MAX", 20_000)
    agreements = results("agrees")
    proxy.lie(ALL_RECEIPTS, lambda receipts: [{**item, "note": "x" * 20_000} for item in receipts])
    chain.log_transfers(USDC, (address, 5))
    chain.pay(address, 10)
    watcher.read()
    assert amounts() == [5, 10] and results("agrees") == agreements + 2
    lies_about_logs(proxy, raised)
    chain.log_transfers(USDC, (address, 6))
    with pytest.raises(Inconsistent):
        watcher.read()
