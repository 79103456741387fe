"""Balances of an asset at one block, as the nodes say them."""

from collections.abc import Sequence

from apps.assets.models import Asset
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.rpc.state import BlockReference, each_at

_BALANCE_OF = "0x70a08231"


class EvmBalances:
    """At the block of a number, as the nodes have it. Raises RpcError."""

    at_once = 100

    def __init__(self, asset: Asset, number: int, nodes: Nodes) -> None:
        self._asset = asset
        self._nodes = nodes
        block = nodes.call("eth_getBlockByNumber", [hex(number), False])
        if not isinstance(block, dict) or not isinstance(block.get("hash"), str):
            raise RpcError(f"no block {number}")
        self._at = BlockReference(number, block["hash"])

    def held(self, holders: Sequence[str]) -> dict[str, int]:
        calls = [self._call(holder) for holder in holders]
        held = {}
        answers = each_at(self._nodes, calls, self._at)
        for holder, answer in zip(holders, answers, strict=True):
            if isinstance(answer, RpcError):
                raise answer
            held[holder] = 0 if answer in ("0x", None) else int(answer, 16)
        return held

    def _call(self, holder: str) -> Call:
        if self._asset.is_native:
            return "eth_getBalance", [holder, self._at.hash]
        data = f"{_BALANCE_OF}{holder[2:]:0>64}"
        return "eth_call", [{"to": self._asset.contract_address, "data": data}, self._at.hash]
