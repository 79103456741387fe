"""Announcements of a node over a websocket: that there is a new block and, where the node tells
them, whole transactions that wait for one.

Nothing depends on them. Blocks are read by asking, sooner when one was announced, so a socket that
is silent, lies or breaks costs time and misses nothing. Addresses of nodes may hold credentials:
they are never logged.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
import orjson
import structlog

CONNECT_SECONDS = 10.0
# A connection that the network has forgotten is found by a question of its own.
HEARTBEAT_SECONDS = 20.0
# Of a network without a block for so long the next address is tried.
SILENT_BLOCKS = 20
SILENT_SECONDS_MIN = 60.0
PAUSE_SECONDS = 1.0
PAUSE_SECONDS_MAX = 60.0
MESSAGE_BYTES_MAX = 4 * 1024 * 1024
# What isn't fetched in time is forgotten; its block brings it all the same.
WAITING_MAX = 5000
BLOCKS, WAITING = "newHeads", "newPendingTransactions"

log = structlog.get_logger(__name__)


class Lost(Exception):
    """The socket can't be used; the text says why, without its address."""


class Socket:
    """A socket that announces: what it was asked for, and what it has agreed to."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._subscriptions: dict[str, str] = {}
        self._early: list[tuple[str, Any]] = []

    @property
    def tells_waiting(self) -> bool:
        return WAITING in self._subscriptions.values()

    async def subscribe(self, chain_id: int) -> None:
        """Raises Lost where the node is of another chain or announces no blocks."""
        told = await self._ask(0, "eth_chainId", [])
        if told != hex(chain_id):
            raise Lost(f"it is on chain {str(told)[:30]}")
        heads = await self._ask(1, "eth_subscribe", [BLOCKS])
        if not isinstance(heads, str):
            raise Lost("it announces no blocks")
        self._subscriptions[heads] = BLOCKS
        waiting = await self._ask(2, "eth_subscribe", [WAITING, True])
        if isinstance(waiting, str):
            self._subscriptions[waiting] = WAITING

    async def next(self, seconds: float) -> tuple[str, Any]:
        """The next announcement: `newHeads` or `newPendingTransactions`, and its content. Raises
        Lost."""
        if self._early:
            return self._early.pop(0)
        async with _within(seconds):
            while True:
                found = self._announced(await self._message())
                if found is not None:
                    return found

    async def _ask(self, number: int, method: str, parameters: list[Any]) -> Any:
        """The result; None for a refusal."""
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        async with _within(CONNECT_SECONDS):
            await self._socket.send_str(orjson.dumps(request).decode())
            while True:
                answer = await self._message()
                if answer.get("id") == number:
                    return answer.get("result")
                found = self._announced(answer)
                if found is not None:
                    self._early.append(found)

    async def _message(self) -> Mapping[str, Any]:
        message = await self._socket.receive()
        if message.type is not aiohttp.WSMsgType.TEXT:
            raise Lost("the connection ended")
        try:
            told = orjson.loads(message.data)
        except ValueError:
            raise Lost("its message isn't JSON") from None
        return told if isinstance(told, dict) else {}

    def _announced(self, message: Mapping[str, Any]) -> tuple[str, Any] | None:
        parameters = message.get("params")
        if not isinstance(parameters, dict):
            return None
        kind = self._subscriptions.get(str(parameters.get("subscription")))
        return None if kind is None else (kind, parameters.get("result"))


@asynccontextmanager
async def _within(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Lost(f"nothing was heard for {seconds:g} seconds") from None


@asynccontextmanager
async def opened(url: str, chain_id: int) -> AsyncIterator[Socket]:
    """A `Socket` that has agreed to announce blocks. Raises Lost."""
    timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.ws_connect(
                url, heartbeat=HEARTBEAT_SECONDS, max_msg_size=MESSAGE_BYTES_MAX
            ) as socket,
        ):
            found = Socket(socket)
            await found.subscribe(chain_id)
            yield found
    except (aiohttp.ClientError, OSError, ValueError) as error:  # its text has the address
        raise Lost(type(error).__name__) from None


class Announcements:
    """Of one network, by a thread of its own, from whichever of its addresses works."""

    def __init__(
        self, chain: str, chain_id: int, urls: Sequence[str], block_seconds: float
    ) -> None:
        self._chain = chain
        self._chain_id = chain_id
        self._urls = [*urls]
        self._silent_seconds = max(SILENT_SECONDS_MIN, SILENT_BLOCKS * block_seconds)
        self._block = threading.Event()
        self._is_connected = False
        self._waiting: deque[Any] = deque(maxlen=WAITING_MAX)
        self._loop = asyncio.new_event_loop()
        self._following = self._loop.create_task(self._follow())
        self._thread = threading.Thread(target=self._run, name=f"hear-{chain}", daemon=True)
        self._thread.start()

    @property
    def is_connected(self) -> bool:
        """True while a node would be heard."""
        return self._is_connected

    @property
    def has_block(self) -> bool:
        return self._block.is_set()

    def wait(self, seconds: float) -> None:
        """Until a block is announced, or for so long."""
        self._block.wait(seconds)

    def forget_block(self) -> None:
        """Before blocks are asked for: one that is announced meanwhile is news."""
        self._block.clear()

    def waiting(self) -> list[Any]:
        """Transactions that were announced since this was asked last, as the node has them."""
        found = []
        with suppress(IndexError):
            while True:
                found.append(self._waiting.popleft())
        return found

    def close(self) -> None:
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._following.cancel)
        self._thread.join(1.0)

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._following)
        self._loop.close()

    async def _follow(self) -> None:
        pause = PAUSE_SECONDS
        while True:
            for place, url in enumerate(self._urls, 1):
                began = time.monotonic()
                try:
                    await self._listen(place, url)
                except Lost as error:
                    name = f"{self._chain} websocket {place}"
                    log.warning("announcements_lost", node=name, error=str(error))
                is_new = time.monotonic() - began > PAUSE_SECONDS_MAX
                pause = PAUSE_SECONDS if is_new else min(pause * 2, PAUSE_SECONDS_MAX)
                await asyncio.sleep(pause)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        self._is_connected = True
        try:
            yield
        finally:
            self._is_connected = False

    async def _listen(self, place: int, url: str) -> None:
        async with opened(url, self._chain_id) as socket, self._connected():
            log.info(
                "announcements_heard",
                node=f"{self._chain} websocket {place}",
                tells_waiting=socket.tells_waiting,
            )
            self._block.set()  # some may have come in between
            block_at = time.monotonic()
            while True:
                left = block_at + self._silent_seconds - time.monotonic()
                kind, told = await socket.next(max(0.0, left))
                if kind == BLOCKS:
                    block_at = time.monotonic()
                    self._block.set()
                elif isinstance(told, dict):
                    self._waiting.append(told)
