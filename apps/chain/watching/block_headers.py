"""A block's header as a node tells it, read strictly."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from apps.chain.providers.base import RpcError

TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


class Inconsistent(RpcError):
    """The node's answers contradict each other; asking again later may help."""


@dataclass(frozen=True)
class BlockHeader:
    number: int
    hash: str
    parent_hash: str
    mined_at: datetime


def header_of(block: Any) -> BlockHeader:
    try:
        mined_at = datetime.fromtimestamp(integer(block["timestamp"]), UTC)
        return BlockHeader(
            integer(block["number"]),
            _text(block["hash"], 66),
            _text(block["parentHash"], 66),
            mined_at,
        )
    except (TypeError, KeyError, ValueError, OverflowError):
        raise Inconsistent("a node's answer isn't a block") from None


def integer(text: Any) -> int:
    if not isinstance(text, str) or not text.startswith("0x"):
        raise ValueError("not a hex quantity")
    return int(text, 16)


def _text(text: Any, length: int) -> str:
    if not isinstance(text, str) or len(text) != length:
        raise ValueError("not hex of this length")
    return text.lower()
