"""A node's lists of a block are compared with the block's header: lists that were cut, of another
block or of no block are refused, and chains whose headers say nothing go on."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.chain.encoding import bloom as blooms
from apps.chain.encoding.keccak import keccak
from apps.chain.models import Deposit, Head
from apps.chain.networks.base import Inconsistent
from apps.chain.networks.evm.block_headers import settles_later
from tests.chain.conftest import Reader, make_address
from tests.chain.local import LOGGER, LocalChain
from tests.chain.proxy import Proxy
from tests.chain.test_deposits import USDC, blocks_are_linked

pytestmark = pytest.mark.chain
Lie = Callable[[Any], Any]


def amounts() -> list[int]:
    return sorted(deposit.amount_atomic for deposit in Deposit.objects.all())


def _second_left_out(logs: Any) -> Any:
    return logs[:1] + logs[2:]


@pytest.mark.parametrize(
    "lie",
    [lambda logs: [], lambda logs: logs[:2], lambda logs: logs[1:], _second_left_out],
    ids=["none", "without the last", "without the first", "without one between"],
)
def test_logs_that_lack_what_the_header_promises_are_not_believed(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, lie: Lie
) -> None:
    chain.put(LOGGER, USDC)
    watcher.read()
    head = Head.objects.get().number
    proxy.lie("eth_getLogs", lie)
    chain.log_transfers(USDC, (address, 5), (make_address(), 6), (make_address(), 7))
    for _ in range(2):
        with pytest.raises(Inconsistent):
            watcher.read()
        assert Head.objects.get().number == head and not Deposit.objects.exists()
    proxy.changes.clear()
    watcher.read()
    assert amounts() == [5, 6, 7]
    blocks_are_linked()


def test_a_network_that_settles_its_own_blocks_is_not_believed_otherwise(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    """A field that a node adds to a header switches no comparison off."""
    chain.put(LOGGER, USDC)
    watcher.read()
    proxy.settle_later()
    chain.log_transfers(USDC, (address, 5))
    chain.mine(2)
    with pytest.raises(Inconsistent, match="more logs than were listed"):
        watcher.read()


@pytest.mark.parametrize(
    ("chain_id", "block", "is_later"),
    [
        ("avalanche", {"settledHeight": "0x0"}, True),
        ("avalanche_fuji", {"settledHeight": "0x5"}, True),
        ("avalanche", {"settledHeight": None}, False),
        ("avalanche", {}, False),
        ("base", {"settledHeight": "0x5"}, False),
        ("gnosis", {"settledHeight": "0x5"}, False),
    ],
)
def test_blocks_settle_later_where_the_network_does_and_they_say_so(
    chain_id: str, block: dict[str, str | None], is_later: bool
) -> None:
    assert settles_later(chain_id, block) is is_later


def test_one_of_two_equal_transfers_that_is_left_out_is_missed(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    proxy.lie("eth_getLogs", _second_left_out)
    chain.log_transfers(USDC, (address, 5), (address, 6), (address, 7))
    with pytest.raises(Inconsistent):
        watcher.read()
    proxy.changes.clear()
    watcher.read()
    assert amounts() == [5, 6, 7]


def _busy(block: Any) -> Any:
    """A filter as of a block with hundreds of logs, which has more than is there."""
    crowd = int(block["logsBloom"], 16)
    for number in range(200):
        crowd |= blooms.of_item(f"0x{number:064x}")
    return {**block, "logsBloom": f"0x{crowd:0512x}"}


def test_in_a_busy_block_a_token_without_logs_is_looked_for_among_all(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    watcher.read()
    proxy.lie("eth_getBlockByNumber", lambda block: block and _busy(block))
    is_lying = True

    def filtered(method: str, given: list[Any], result: Any) -> Any:
        """The node's index of addresses is behind; it tells everything only when asked for all."""
        lies = is_lying and method == "eth_getLogs" and "address" in given[0]
        return [] if lies else result

    proxy.changes.append(filtered)
    chain.log_transfers(USDC, (address, 5))
    with pytest.raises(Inconsistent):  # more is promised than anybody tells
        watcher.read()
    proxy.changes.pop(0)  # the filter is the block's own again
    watcher.read()
    assert amounts() == [5]


CUTS: list[Lie] = [
    lambda block: {**block, "transactions": []},
    lambda block: {**block, "transactions": block["transactions"][:1]},
    lambda block: {**block, "transactions": block["transactions"][1:]},
    lambda block: {
        **block,
        "transactions": [{**item, "blockHash": "0x" + "1" * 64} for item in block["transactions"]],
    },
]


@pytest.mark.parametrize("cut", CUTS, ids=["none", "the first", "the last", "of another block"])
def test_transactions_that_are_not_all_of_the_block_are_not_believed(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, cut: Lie
) -> None:
    watcher.read()
    head = Head.objects.get().number
    chain.call("evm_setAutomine", False)
    hashes = [chain.send(address, amount, sender=amount) for amount in (1, 2, 3)]
    chain.mine()
    assert all(chain.call("eth_getTransactionReceipt", each) for each in hashes)
    proxy.lie(
        "eth_getBlockByNumber",
        lambda block: (
            cut(block)
            if block
            and isinstance(block["transactions"], list)
            and block["transactions"]
            and isinstance(block["transactions"][0], dict)
            else block
        ),
    )
    with pytest.raises(Inconsistent):
        watcher.read()
    assert Head.objects.get().number == head
    proxy.changes.clear()
    watcher.read()
    assert amounts() == [1, 2, 3]


def test_an_empty_list_with_another_root_needs_nobody_who_counts(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    watcher.read()
    proxy.unknown.add("eth_getBlockTransactionCountByHash")
    proxy.lie("eth_getBlockByNumber", lambda block: block and {**block, "transactions": []})
    chain.pay(address, 10)
    with pytest.raises(Inconsistent):
        watcher.read()
    proxy.changes.clear()
    watcher.read()  # and who can't count is believed otherwise
    assert amounts() == [10]


def test_another_node_is_asked_instead(
    chain: LocalChain, proxy: Proxy, second: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    watcher.read()
    chain.mine(15)  # a part of which only one block is wrong
    proxy.lie("eth_getLogs", lambda logs: [])
    chain.log_transfers(USDC, (address, 5))
    chain.mine(3)
    with pytest.raises(Inconsistent):
        watcher.read()
    watcher.read()
    assert amounts() == [5] and "eth_getLogs" in second.calls


def test_a_log_that_the_header_denies_is_nobodys(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    watcher.read()
    other = make_address()

    def invented(logs: Any) -> Any:
        topics = [*logs[0]["topics"][:2], "0x" + other[2:].rjust(64, "0")] if logs else []
        return logs + [{**log, "logIndex": "0x1", "topics": topics} for log in logs]

    proxy.lie("eth_getLogs", invented)
    chain.log_transfers(USDC, (address, 5))
    with pytest.raises(Inconsistent):
        watcher.read()
    proxy.changes.clear()
    watcher.read()
    assert [row.address_id for row in Deposit.objects.all()] == [address]


def test_a_networks_own_log_outside_the_filter_is_read_from_its_receipt(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    """As Polygon's bridge mints: its logs are in no header, and their transaction is listed."""
    chain.put(LOGGER, USDC)
    watcher.read()
    chain.log_transfers(USDC, (address, 5))
    only_others = blooms.of_item("0x" + "5" * 64)
    proxy.lie(
        "eth_getBlockByNumber",
        lambda block: block and {**block, "logsBloom": f"0x{only_others:0512x}"},
    )
    with pytest.raises(Inconsistent):  # the filter's own log is missing
        watcher.read()
    proxy.changes.clear()
    usual = int(chain.block(chain.height)["logsBloom"], 16)
    rest = usual & ~blooms.of_item("0x" + address[2:].rjust(64, "0"))
    proxy.lie(
        "eth_getBlockByNumber",
        lambda block: block and {**block, "logsBloom": f"0x{rest:0512x}"},
    )
    watcher.read()
    assert amounts() == [5]


@pytest.mark.parametrize("told", [None, "0x" + "0" * 512, "0x" + "f" * 512, "0x", 5])
def test_a_chain_whose_headers_have_no_filter_goes_on(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, told: Any
) -> None:
    chain.put(LOGGER, USDC)
    zero = "0x" + "0" * 64
    proxy.lie(
        "eth_getBlockByNumber",
        lambda block: block and {**block, "logsBloom": told, "transactionsRoot": zero},
    )
    chain.pay(address, 10)
    chain.log_transfers(USDC, (address, 5))
    chain.mine(3)
    watcher.read()
    assert amounts() == [5, 10]


@pytest.mark.parametrize("nothing", [b"", b"\xc0"])
def test_a_first_block_whose_root_is_the_hash_of_nothing_is_read(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str, nothing: bytes
) -> None:
    """As Hardhat's nodes have it."""
    root = "0x" + keccak(nothing).hex()
    proxy.lie(
        "eth_getBlockByNumber",
        lambda block: (
            block and {**block, **({} if block["transactions"] else {"transactionsRoot": root})}
        ),
    )
    chain.pay(address, 10)
    chain.mine(3)
    watcher.read()
    assert amounts() == [10]


def test_a_node_that_tells_only_logs_of_an_address_is_asked_for_them(
    chain: LocalChain, proxy: Proxy, watcher: Reader, address: str
) -> None:
    chain.put(LOGGER, USDC)
    proxy.refuses = lambda method, given: method == "eth_getLogs" and "address" not in given[0]
    chain.log_transfers(USDC, (address, 5))
    watcher.read()
    assert amounts() == [5]
