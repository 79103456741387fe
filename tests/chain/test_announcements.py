"""Blocks and waiting transactions that a node announces: read immediately, and by asking where the
announcement is missing; no block is missed, and what was only seen isn't counted."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import structlog
from eth_abi.abi import encode

from apps.assets.models import Asset
from apps.chain.models import Block, Deposit, Head, SightingRecord
from apps.chain.networks.readers import reader_of
from apps.chain.nodes import announcements_of
from apps.chain.rpc import announcements as provider
from apps.chain.rpc.announcements import Announcements
from apps.chain.watching import sightings
from apps.chain.watching.watched import facts_of
from apps.chain.watching.watcher import Watcher, watch
from apps.core import clock
from tests.chain.conftest import make_address
from tests.chain.local import LocalChain
from tests.chain.proxy import Proxy
from tests.chain.relay import Relay

pytestmark = pytest.mark.chain

# Polls are so rare that only an announcement explains a block that was read sooner.
RARE_SECONDS = 600.0
SOON_SECONDS = 60.0


def until(happened: Callable[[], bool], seconds: float = SOON_SECONDS) -> None:
    began = time.monotonic()
    while not happened():
        assert time.monotonic() - began < seconds
        time.sleep(0.02)


@pytest.fixture
def relay(chain: LocalChain, settings: Any) -> Iterator[Relay]:
    between = Relay(chain.url)
    settings.CHAIN_WS_URLS = {"sepolia": [between.url]}
    yield between
    between.close()


@pytest.fixture
def announced(relay: Relay, db: None) -> Iterator[Announcements]:
    found = announcements_of("sepolia")
    assert found is not None
    until(lambda: found.has_block)
    with closing(found):
        yield found


def test_a_block_is_announced_and_the_next_one_too(
    chain: LocalChain, announced: Announcements
) -> None:
    for _ in range(3):
        announced.forget_block()
        chain.mine()
        until(lambda: announced.has_block)


def test_a_socket_that_breaks_is_opened_again(
    chain: LocalChain, relay: Relay, announced: Announcements, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "PAUSE_SECONDS", 0.05)
    announced.forget_block()
    with structlog.testing.capture_logs() as logs:
        relay.cut()
        until(lambda: relay.connections == 2)
        until(lambda: announced.has_block)  # what came in between is asked for
    assert [entry["node"] for entry in logs if entry["event"] == "announcements_lost"]
    assert "hunter2" not in str(logs) and "api-key" not in str(logs)
    announced.forget_block()
    chain.mine()
    until(lambda: announced.has_block)


def test_a_silent_socket_is_left(
    chain: LocalChain, relay: Relay, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(provider, "SILENT_SECONDS_MIN", 0.5)
    with closing(Announcements("sepolia", 11155111, [relay.url], 0)) as found:
        until(lambda: found.has_block)
        relay.is_silent = True
        until(lambda: relay.connections > 1)


def test_a_node_of_another_chain_announces_nothing(relay: Relay, db: None) -> None:
    with (
        structlog.testing.capture_logs() as logs,
        closing(Announcements("base", 8453, [relay.url], 2)) as found,
    ):
        until(lambda: any(entry["event"] == "announcements_lost" for entry in logs))
        assert not found.has_block
    [error] = {entry["error"] for entry in logs if entry["event"] == "announcements_lost"}
    assert error == "it is on chain 0xaa36a7"


# --- the watcher ----------------------------------------------------------------------------------


class Watching:
    """The watcher in its thread, as a process has it."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=watch, args=("sepolia", self._stop))
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive()


@pytest.fixture
def watching(
    chain: LocalChain, proxy: Proxy, relay: Relay, settings: Any, committed: None
) -> Iterator[Watching]:
    settings.CHAIN_POLL_SECONDS = RARE_SECONDS
    with closing(Watching()) as running:
        until(lambda: Head.objects.filter(chain="sepolia", number=chain.height).exists())
        until(lambda: relay.connections > 0)
        yield running


def is_read(chain: LocalChain) -> bool:
    tip = chain.block(chain.height)
    return Head.objects.filter(chain="sepolia", hash=tip["hash"]).exists()


def test_an_announced_block_is_read_before_the_next_poll(
    chain: LocalChain, watching: Watching
) -> None:
    address = make_address()
    chain.pay(address, 7)
    until(lambda: Deposit.objects.filter(address=address).exists())
    until(lambda: is_read(chain))


def test_without_a_socket_blocks_are_read_by_asking(
    chain: LocalChain, relay: Relay, settings: Any, watching: Watching
) -> None:
    relay.is_silent = True
    chain.mine(3)
    time.sleep(0.5)
    assert not is_read(chain)
    settings.CHAIN_POLL_SECONDS = 0.2
    relay.is_silent = False
    chain.mine()  # the last one that was announced brings the shorter pause
    until(lambda: is_read(chain))
    relay.is_away = True
    relay.cut()
    chain.mine(3)
    until(lambda: is_read(chain))
    numbers = sorted(Block.objects.filter(chain="sepolia").values_list("number", flat=True))
    assert numbers == list(range(chain.height + 1))


def test_another_branch_is_followed_as_soon_as_it_is_announced(
    chain: LocalChain, watching: Watching
) -> None:
    address = make_address()
    chain.mine(3)
    chain.pay(address, 7)
    until(lambda: Deposit.objects.filter(address=address).exists())
    chain.reorg(2)
    chain.mine()
    until(lambda: is_read(chain))
    [deposit] = Deposit.objects.filter(address=address)
    assert deposit.status == Deposit.Status.FAILED
    canonical = Block.objects.filter(chain="sepolia", is_canonical=True)
    hashes = dict(canonical.values_list("number", "hash"))
    assert hashes == {number: chain.block(number)["hash"] for number in range(chain.height + 1)}


def test_a_node_that_was_away_is_asked_for_what_it_had_meanwhile(
    chain: LocalChain,
    proxy: Proxy,
    relay: Relay,
    watching: Watching,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(provider, "PAUSE_SECONDS", 0.05)
    address = make_address()
    proxy.cut = relay.is_away = True
    relay.cut()
    chain.pay(address, 7)
    chain.mine(2)
    proxy.cut = relay.is_away = False
    until(lambda: Deposit.objects.filter(address=address).exists())
    until(lambda: is_read(chain))


def test_what_waits_is_seen_without_a_block(chain: LocalChain, watching: Watching) -> None:
    address = make_address()
    chain.call("evm_setAutomine", False)
    tx_hash = chain.send(address, 7)
    until(lambda: SightingRecord.objects.filter(tx_hash=tx_hash).exists())
    assert [*Deposit.objects.filter(address=address).values()] == []
    chain.mine()
    until(lambda: Deposit.objects.filter(tx_hash=tx_hash).exists())
    until(lambda: SightingRecord.objects.get(tx_hash=tx_hash).status == "mined")


# --- what waits -----------------------------------------------------------------------------------


@pytest.fixture
def seeing(
    chain: LocalChain, announced: Announcements
) -> Iterator[Callable[[], list[SightingRecord]]]:
    """Reads until there is nothing more; all sightings."""
    chain.call("evm_setAutomine", False)
    watcher = Watcher("sepolia", announced)

    def look() -> list[SightingRecord]:
        time.sleep(0.2)  # an announcement takes its time
        while watcher.step():
            pass
        return list(SightingRecord.objects.order_by("pk"))

    look()
    with closing(watcher):
        yield look


def test_a_coin_and_a_token_are_seen_and_end_with_their_block(
    chain: LocalChain, seeing: Callable[[], list[SightingRecord]]
) -> None:
    chain.call("evm_setAutomine", True)
    token = chain.deploy_token()
    chain.mint(token, chain.accounts[0], 1_000)
    chain.call("evm_setAutomine", False)
    asset = Asset.objects.get(pk="USDC_SETH")
    Asset.objects.filter(pk=asset.pk).update(contract_address=token)
    address, other = make_address(), make_address()
    native = chain.send(address, 7)
    data = "0xa9059cbb" + encode(["address", "uint256"], [other, 25]).hex()
    sent = chain.send(token, data=data)
    rows = seeing()
    assert [
        (row.tx_hash, row.asset_id, row.address_id, int(row.amount_atomic), row.status)
        for row in rows
    ] == [
        (native, "SETH", address, 7, "waiting"),
        (sent, asset.pk, other, 25, "waiting"),
    ]
    chain.mine()
    assert [row.status for row in seeing()] == ["mined", "mined"]
    assert Deposit.objects.count() == 2


def test_another_transaction_of_the_same_number_takes_its_place(
    chain: LocalChain, seeing: Callable[[], list[SightingRecord]]
) -> None:
    address = make_address()
    price = {"maxFeePerGas": hex(10**10), "maxPriorityFeePerGas": hex(10**9)}
    dearer = {"maxFeePerGas": hex(10**11), "maxPriorityFeePerGas": hex(10**10)}
    nonce = chain.call("eth_getTransactionCount", chain.accounts[0], "latest")
    chain.send(address, 7, nonce=nonce, **price)
    assert [row.status for row in seeing()] == ["waiting"]
    other = chain.send(chain.accounts[1], 1, nonce=nonce, **dearer)
    [row] = seeing()
    assert (row.status, row.ended_by) == ("replaced", other)
    chain.mine()
    assert [row.status for row in seeing()] == ["replaced"]
    assert not Deposit.objects.exists()


def test_one_that_moves_nothing_ends_with_its_block(
    chain: LocalChain, seeing: Callable[[], list[SightingRecord]]
) -> None:
    chain.call("evm_setAutomine", True)
    token = chain.deploy_token()
    chain.call("evm_setAutomine", False)
    Asset.objects.filter(pk="USDC_SETH").update(contract_address=token)
    data = "0xa9059cbb" + encode(["address", "uint256"], [make_address(), 25]).hex()
    chain.send(token, data=data)  # of more than its sender has
    assert [row.status for row in seeing()] == ["waiting"]
    chain.mine()
    assert [row.status for row in seeing()] == ["mined"]
    assert not Deposit.objects.exists()


def test_one_that_is_announced_after_its_block_was_read_waits_for_nothing(
    chain: LocalChain, announced: Announcements, seeing: Callable[[], list[SightingRecord]]
) -> None:
    chain.send(make_address(), 7)
    time.sleep(0.3)
    told = announced.waiting()
    chain.mine()
    seeing()
    assert Deposit.objects.count() == 1 and len(told) == 1
    facts = facts_of("sepolia")
    reader = reader_of(facts.chain, announcements=lambda: told)
    with closing(reader):
        sightings.WaitingWatch(reader).look(facts, clock.real_now())
    assert not SightingRecord.objects.exists()


def test_one_that_no_node_has_any_more_is_dropped(
    chain: LocalChain,
    seeing: Callable[[], list[SightingRecord]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sightings, "ASK_SECONDS", 0.0)
    monkeypatch.setattr(sightings, "GONE_AFTER", sightings.timedelta(0))
    chain.send(make_address(), 7)
    assert [row.status for row in seeing()] == ["waiting"]
    assert [row.status for row in seeing()] == ["waiting"]
    chain.call("anvil_dropAllTransactions")
    assert [row.status for row in seeing()] == ["dropped"]


def test_nonsense_is_no_sighting(db: None) -> None:
    from apps.chain.networks.evm.announced import sightings as read

    to = "0x" + "02" * 20
    good = {"hash": "0x" + "ab" * 32, "from": "0x" + "01" * 20, "nonce": "0x1", "input": "0x"}
    assert [len(item.transfers) for item in read([{**good, "to": to, "value": "0x1"}])] == [1]
    for broken in (
        {},
        {**good, "to": to, "value": 7},
        {**good, "to": to, "value": "0x0", "nonce": None},
    ):
        assert read([broken]) == []
    dirty = "0xa9059cbb" + "ff" * 32 + "00" * 31 + "01"
    for called in (dirty, "0xa9059cbb", "0xa9059cbb" + "00" * 63, "0x"):
        [item] = read([{**good, "to": to, "value": "0x0", "input": called}])
        assert item.transfers == ()
