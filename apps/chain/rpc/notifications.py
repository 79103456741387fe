"""Notifications of a node of Bitcoin's family over ZeroMQ: that there is a new block, or a
transaction that waits for one (Bitcoin Core, doc/zmq.md).

Nothing depends on them. ZeroMQ proves no sender and drops what isn't fetched in time, so a message
only means that the node is asked now; what is in it isn't read.
"""

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import structlog
import zmq
from zmq.utils.monitor import recv_monitor_message

TOPICS = (b"hashblock", b"hashtx")
HEARTBEAT_MILLISECONDS = 5_000
RECONNECT_MILLISECONDS = 1_000
RECONNECT_MILLISECONDS_MAX = 60_000
# What waits for this process: the news is that there is some.
MESSAGES_MAX = 100
MESSAGE_BYTES_MAX = 1_024

log = structlog.get_logger(__name__)


class Notifications:
    """Of one network, by a thread of its own, from all of its addresses together.

    Heartbeats are ZeroMQ's own: a connection that the network has forgotten counts as lost. An
    address that ZeroMQ can't use is left out, and the log says so: the chain is read without it.
    """

    def __init__(self, chain: str, urls: Sequence[str]) -> None:
        self._chain = chain
        self._news = threading.Event()
        self._ended = threading.Event()
        self._connected: set[int] = set()
        self._context = zmq.Context()
        self._sockets: dict[int, zmq.Socket[bytes]] = {}  # by place in the setting
        self._monitors: dict[int, zmq.Socket[bytes]] = {}
        for place, url in enumerate(urls, 1):
            socket = self._socket()
            monitor = socket.get_monitor_socket(_CHANGES)  # before there is something to tell
            try:
                socket.connect(url)
            except zmq.ZMQError as error:  # its text has the address
                log.warning(
                    "notifications_lost", node=self._name(place), error=type(error).__name__
                )
                continue
            self._sockets[place] = socket
            self._monitors[place] = monitor
        self._thread = threading.Thread(target=self._run, name=f"hear-{chain}", daemon=True)
        self._thread.start()

    @property
    def is_connected(self) -> bool:
        """True while a node would be heard."""
        return bool(self._connected)

    @property
    def has_block(self) -> bool:
        return self._news.is_set()

    def wait(self, seconds: float) -> None:
        """Until something is announced, or for so long."""
        self._news.wait(seconds)

    def forget_block(self) -> None:
        """Before the node is asked: what is announced meanwhile is news."""
        self._news.clear()

    def waiting(self) -> list[Any]:
        """None: the node lists what waits."""
        return []

    def close(self) -> None:
        self._ended.set()
        self._thread.join(2.0)

    def _socket(self) -> "zmq.Socket[bytes]":
        socket = self._context.socket(zmq.SUB)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.RCVHWM, MESSAGES_MAX)
        socket.setsockopt(zmq.MAXMSGSIZE, MESSAGE_BYTES_MAX)
        socket.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT_MILLISECONDS)
        socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 2 * HEARTBEAT_MILLISECONDS)
        socket.setsockopt(zmq.RECONNECT_IVL, RECONNECT_MILLISECONDS)
        socket.setsockopt(zmq.RECONNECT_IVL_MAX, RECONNECT_MILLISECONDS_MAX)
        for topic in TOPICS:
            socket.subscribe(topic)
        return socket

    def _run(self) -> None:
        with ExitStack() as open_ones:
            open_ones.callback(self._context.destroy, linger=0)
            open_ones.callback(self._connected.clear)
            poller = zmq.Poller()
            for each in (*self._sockets.values(), *self._monitors.values()):
                poller.register(each, zmq.POLLIN)
            while not self._ended.is_set():
                ready = dict(poller.poll(500))
                for place, socket in self._sockets.items():
                    monitor = self._monitors[place]
                    if monitor in ready:
                        self._note(place, recv_monitor_message(monitor)["event"])
                    if socket in ready:
                        socket.recv_multipart()
                        self._news.set()

    def _name(self, place: int) -> str:
        return f"{self._chain} notifications {place}"

    def _note(self, place: int, event: int) -> None:
        node = self._name(place)
        if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            self._connected.add(place)
            self._news.set()  # some may have come in between
            log.info("notifications_heard", node=node)
        elif place in self._connected:
            self._connected.discard(place)
            self._news.set()  # the node is asked often again from now on
            log.warning("notifications_lost", node=node)


_CHANGES = (
    zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_DISCONNECTED
    | zmq.EVENT_CLOSED
    | zmq.EVENT_MONITOR_STOPPED
)
