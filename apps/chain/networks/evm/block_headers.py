"""A block's header as a node tells it, read strictly."""

from datetime import UTC, datetime
from typing import Any

from apps.chain.networks.base import BlockHeader, Inconsistent
from apps.chain.networks.catalog import network_in_catalog

# The root of a trie with nothing in it, and what replaces it where a node takes the hash of no
# bytes or of an empty list (the first block of Hardhat's nodes, for one).
EMPTY_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
_EMPTY_ROOTS = (
    EMPTY_ROOT,
    "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
)
TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


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


def settles_later(chain_id: str, block: Any) -> bool:
    """Tell whether a header has the filter and the root of the receipts of blocks before, which it
    settles, and not of its own. Only of networks that do so: the word of another's node would
    switch off what it is compared with (decision 974)."""
    network = network_in_catalog(chain_id)
    if network is None or not network.settles_later:
        return False
    return isinstance(block, dict) and block.get("settledHeight") is not None


def has_some(root: Any) -> bool:
    """Tell whether a root is of something; some chains have none, or a zero for one."""
    is_root = isinstance(root, str) and len(root) == len(EMPTY_ROOT)
    return is_root and root.lower() not in _EMPTY_ROOTS and int(root, 16) != 0


def integer(text: Any) -> int:
    if not isinstance(text, str) or not text.startswith("0x"):
        raise ValueError("not a hex quantity")
    return int(text, 16)


def _text(text: Any, length: int) -> str:
    if not isinstance(text, str) or len(text) != length:
        raise ValueError("not hex of this length")
    return text.lower()
