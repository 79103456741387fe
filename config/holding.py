"""Answers that are held until they would say something else, without a thread.

A page that wants to hear of news immediately asks with what it knows (`apps/core/web/variables.py`,
HOLD). As long as that is still so, its request waits on the event loop; one look reads the news of
all that wait in this process.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor
from typing import Any

from apps.core.web.variables import Hold

# Below what proxies wait for an answer, and what a worker is given to end.
HOLD_SECONDS = 20.0
LOOK_SECONDS = 0.25
HELD_MAX = 4000

log = logging.getLogger(__name__)
Receive = Callable[[], Any]


class HeldAnswers:
    """Of one process. `read` tells what is to be said to each key now; it runs in a thread."""

    def __init__(
        self, read: Callable[[Collection[str]], Mapping[str, str]], thread: Executor
    ) -> None:
        self._read = read
        self._thread = thread
        self._waiting: dict[asyncio.Future[str], Hold] = {}
        self._looking: asyncio.Task[None] | None = None

    async def changed(self, hold: Hold, receive: Receive) -> str:
        """The text to be said once it has changed, or after a while, or when the client has
        left."""
        if len(self._waiting) >= HELD_MAX:
            return hold.text
        news: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[news] = hold
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        leaving = asyncio.ensure_future(receive())
        try:
            await asyncio.wait(
                (news, leaving), timeout=HOLD_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            return news.result() if news.done() else hold.text
        finally:
            leaving.cancel()
            del self._waiting[news]

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            await asyncio.sleep(LOOK_SECONDS)
            keys = {hold.key for hold in self._waiting.values()}
            if not keys:
                return
            try:
                texts = await loop.run_in_executor(self._thread, self._read, keys)
            except Exception:
                log.exception("news were not read")
                continue
            for news, hold in self._waiting.items():
                text = texts.get(hold.key, hold.text)
                if text != hold.text and not news.done():
                    news.set_result(text)
