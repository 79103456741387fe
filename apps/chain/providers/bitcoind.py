"""JSON-RPC to nodes of Bitcoin's family (Bitcoin Core, Litecoin Core).

They are distinguished from others by the hash of their first block. A refusal comes with a status
of its own, and a node that is still starting is none that answers.
"""

from collections.abc import Mapping
from typing import Any

from apps.chain.providers.base import Call, RpcError
from apps.chain.providers.jsonrpc import READ_SECONDS, JsonRpc, Node

# The last digits of the first block's hash are the network's number.
_NUMBER_DIGITS = 12
_STARTING = -28  # it reads its blocks


class BitcoinNode(Node):
    # 500 of a call that is refused, 404 of one that there isn't.
    statuses = (200, 404, 500)

    def __init__(
        self, chain: str, place: int, url: str, patience_seconds: float | None = None
    ) -> None:
        super().__init__(chain, place, url, patience_seconds)
        # A search through all coins has no answer for minutes: who asks says so.
        self._read_seconds = patience_seconds or READ_SECONDS

    def _result(self, answer: Mapping[str, Any]) -> Any:
        error = answer.get("error")
        if isinstance(error, dict) and error.get("code") == _STARTING:
            return RpcError(f"{self.name}: it is starting")
        return super()._result(answer)


class BitcoinNodes(JsonRpc):
    """The nodes of one network, for one thread. Blocks are named by their hash alone."""

    node = BitcoinNode

    def _newest(self) -> Any:
        return self._with_hash(self.call("getblockchaininfo", []))

    def _newest_of(self, node: Node) -> Any:
        calls: list[Call] = [("getblockchaininfo", [])]
        return self._with_hash(self._ask(node, calls)[0])

    def _with_hash(self, told: Any) -> Any:
        if self._height(told) < 0 or not isinstance(told.get("bestblockhash"), str):
            raise RpcError(f"{self._nodes[0].name}: no newest block")
        return told

    def _height(self, block: Any) -> int:
        number = block.get("blocks") if isinstance(block, dict) else None
        return number if isinstance(number, int) else -1

    def _identify(self, node: Node) -> None:
        self.calls_made += 1
        [first] = node.ask([("getblockhash", [0])])
        if not isinstance(first, str) or len(first) != 64:
            raise RpcError(f"{node.name}: no first block")
        if int(first[-_NUMBER_DIGITS:], 16) != self._chain_id:
            raise self._refuse(node, "it is on another network")
        if self.genesis_hash and first != self.genesis_hash:
            raise self._refuse(node, "its chain began with another block")
        self.genesis_hash = first
        self._identified(node)
