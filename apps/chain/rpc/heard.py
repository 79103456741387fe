"""Announcements of a node's websocket, heard for a moment."""

import time
from dataclasses import dataclass

from apps.chain.rpc import announcements

# A block is waited for so long before its announcement counts as missing, in usual blocks.
_HEARD_BLOCKS = 3
_HEARD_SECONDS = 10.0


@dataclass
class Heard:
    """Announcements that came within so many seconds."""

    tells_waiting: bool
    seconds: float
    has_block: bool = False
    has_whole: bool = False
    has_hash: bool = False


async def hear(url: str, chain_id: int, block_milliseconds: int | None) -> Heard:
    """Announcements of a websocket until its first block, and transaction where it has agreed to
    tell them. Raises Lost where it can't be used."""
    usual = (block_milliseconds or 0) / 1000
    seconds = max(_HEARD_SECONDS, _HEARD_BLOCKS * usual)
    until = time.monotonic() + seconds
    async with announcements.opened(url, chain_id) as socket:
        found = Heard(socket.tells_waiting, seconds)
        while not (found.has_block and (found.has_whole or not found.tells_waiting)):
            try:
                kind, told = await socket.next(max(0.0, until - time.monotonic()))
            except announcements.Lost:
                break
            found.has_block |= kind == announcements.BLOCKS
            found.has_whole |= kind == announcements.WAITING and isinstance(told, dict)
            found.has_hash |= kind == announcements.WAITING and isinstance(told, str)
    return found
