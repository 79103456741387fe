"""Holdings of addresses on a network as of a block, as its nodes say: balances of the EVM, coins of
Bitcoin's family."""

from collections.abc import Sequence
from typing import Protocol

from django.db.models import Q

from apps.assets.models import Asset, Chain
from apps.chain.models import CoinRecord
from apps.chain.networks.base import CoinPlace
from apps.chain.networks.coins import carrier_of
from apps.chain.networks.families import has_coins
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.rpc.state import BlockReference, each_at

# A node counts all coins of its network for one question.
COUNTING_SECONDS = 900.0
_BALANCE_OF = "0x70a08231"


class Holdings(Protocol):
    """Of one asset at one block. Raises RpcError."""

    # So many addresses in one question.
    at_once: int

    def held(self, holders: Sequence[str]) -> dict[str, int]:
        """By address."""


def holdings_of(asset: Asset, number: int, nodes: Nodes) -> Holdings:
    """Raises RpcError."""
    kind = _Coins if has_coins(asset.chain) else _Balances
    return kind(asset, number, nodes)


def patience_of(chain: Chain) -> float | None:
    """How long one answer may take; None for what is usual."""
    return COUNTING_SECONDS if has_coins(chain) else None


class _Balances:
    at_once = 100

    def __init__(self, asset: Asset, number: int, nodes: Nodes) -> None:
        """The block of this number as the nodes have it."""
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


class _Coins:
    at_once = 5000

    def __init__(self, asset: Asset, number: int, nodes: Nodes) -> None:
        self._asset = asset
        self._number = number
        self._carrier = carrier_of(asset.chain, nodes)

    def held(self, holders: Sequence[str]) -> dict[str, int]:
        known = CoinRecord.objects.filter(chain=self._asset.chain_id, address__in=holders)
        open_then = known.filter(Q(spent_by="") | Q(spent_number__gt=self._number))
        places = {
            CoinPlace(tx_hash, output).text
            for tx_hash, output in open_then.values_list("tx_hash", "output")
        }
        return self._carrier.held(holders, self._number, places)
