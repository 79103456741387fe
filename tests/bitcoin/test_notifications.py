"""A node's notifications over ZeroMQ: new blocks and transactions are read immediately, and by
asking where no notification comes.

Debian's litecoind is built without ZeroMQ, so a publisher stands in for it, with the frames that
Bitcoin Core documents. `python -m tests.bitcoin.publishing_node` tries bcoin's, which nobody here
wrote.
"""

import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import structlog
import zmq

from apps.assets.models import Chain
from apps.chain.models import SightingRecord
from apps.chain.networks.families import tells_all
from apps.chain.nodes import announcements_of
from apps.chain.rpc.notifications import Notifications
from apps.chain.watching import watcher
from tests import make
from tests.bitcoin.node import Litecoin
from tests.bitcoin.test_paying import CHAIN, Reading, entry, reading  # noqa: F401

pytestmark = pytest.mark.litecoin
SOON_SECONDS = 60.0
RARE_SECONDS = 600.0


class Publisher:
    """Publishes as Bitcoin Core does: topic, body, and a number that counts up by topic."""

    def __init__(self) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PUB)
        self._number = 0
        port = self._socket.bind_to_random_port("tcp://127.0.0.1")
        self.url = f"tcp://127.0.0.1:{port}"

    def publish(self, topic: str, value: str) -> None:
        parts = [topic.encode(), bytes.fromhex(value), struct.pack("<I", self._number)]
        self._number += 1
        self._socket.send_multipart(parts)

    def close(self) -> None:
        self._context.destroy(linger=0)


@pytest.fixture
def publisher(settings: Any) -> Iterator[Publisher]:
    publishing = Publisher()
    settings.CHAIN_ZMQ_URLS = {CHAIN: [publishing.url]}
    yield publishing
    publishing.close()


def until(happened: Callable[[], bool], seconds: float = SOON_SECONDS) -> None:
    began = time.monotonic()
    while not happened():
        assert time.monotonic() - began < seconds
        time.sleep(0.02)


@pytest.fixture
def heard(publisher: Publisher) -> Iterator[Notifications]:
    with closing(Notifications("litecoin", [publisher.url])) as found:
        until(lambda: found.is_connected and found.has_block)
        found.forget_block()
        yield found


def test_a_connection_that_is_made_at_once_is_noticed(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = zmq.Socket.get_monitor_socket

    def late(*given: Any) -> Any:
        time.sleep(0.5)
        return watched(*given)

    monkeypatch.setattr(zmq.Socket, "get_monitor_socket", late)
    with closing(Notifications("litecoin", [publisher.url])) as found:
        until(lambda: found.is_connected)


@pytest.mark.parametrize("topic", ["hashblock", "hashtx"])
def test_a_block_and_a_transaction_are_news(
    publisher: Publisher, heard: Notifications, topic: str
) -> None:
    publisher.publish(topic, "ab" * 32)
    until(lambda: heard.has_block)


def test_other_topics_are_no_news(publisher: Publisher, heard: Notifications) -> None:
    publisher.publish("sequence", "ab" * 32)
    publisher.publish("rawblock", "ab" * 32)
    heard.wait(0.5)
    assert not heard.has_block


def test_a_publisher_that_goes_away_counts_as_lost_and_is_found_again(
    publisher: Publisher, heard: Notifications
) -> None:
    with structlog.testing.capture_logs() as logs:
        publisher.close()
        until(lambda: not heard.is_connected)
        assert heard.has_block  # the node is asked
        context = zmq.Context()
        again = context.socket(zmq.PUB)
        again.bind(publisher.url)
        until(lambda: heard.is_connected)
        context.destroy(linger=0)
    assert [entry["event"] for entry in logs][:2] == ["notifications_lost", "notifications_heard"]
    assert "127.0.0.1" not in str(logs)


def test_an_address_that_isnt_one_is_left_out_and_the_others_are_heard(
    publisher: Publisher,
) -> None:
    with structlog.testing.capture_logs() as logs:
        urls = ["http://127.0.0.1:28332", publisher.url]
        with closing(Notifications("litecoin", urls)) as found:
            until(lambda: found.is_connected)
    assert [entry["event"] for entry in logs] == ["notifications_lost", "notifications_heard"]
    assert "127.0.0.1" not in str(logs)


def test_a_network_without_a_publisher_has_none(settings: Any, db: None) -> None:
    settings.CHAIN_ZMQ_URLS = {}
    assert announcements_of(CHAIN) is None


def test_a_node_that_is_heard_is_asked_seldom(settings: Any, db: None) -> None:
    settings.CHAIN_POLL_SECONDS = 4.0
    chain = Chain.objects.get(pk=CHAIN)
    assert tells_all(chain)
    assert watcher.pause_after(chain, 0.01) == watcher.WAITING_SECONDS
    assert watcher.pause_after(chain, 0.01, is_heard=True) == 4.0


def test_a_payment_is_seen_when_the_node_announces_it(
    litecoin: Litecoin,
    reading: Reading,  # noqa: F811
    publisher: Publisher,
    heard: Notifications,
) -> None:
    payment = make.payment(reading.shop.test)
    way = entry(payment)
    began = time.monotonic()
    watcher._rest(reading.watcher, heard, threading.Event(), 2.0, 0.01)
    assert time.monotonic() - began >= 2  # nobody has announced anything
    tx_hash = litecoin.pay(way["address"], way["crypto_amount"])
    soon = threading.Timer(1.0, publisher.publish, ("hashtx", tx_hash))
    soon.start()
    began = time.monotonic()
    watcher._rest(reading.watcher, heard, threading.Event(), RARE_SECONDS, 0.01)
    assert time.monotonic() - began < SOON_SECONDS
    soon.join()
    reading.read()
    assert SightingRecord.objects.get(address=way["address"]).tx_hash == tx_hash
