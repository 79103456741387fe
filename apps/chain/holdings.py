"""Holdings of addresses on a network as of a block, as its nodes say: balances where the family has
them, coins where what was received is spent whole."""

from collections.abc import Sequence
from typing import Protocol

from django.db.models import Q

from apps.assets.models import Asset, Chain
from apps.chain.models import CoinRecord
from apps.chain.networks.base import CoinPlace
from apps.chain.networks.coins import carrier_of
from apps.chain.networks.evm.balances import EvmBalances
from apps.chain.networks.families import has_coins
from apps.chain.providers.base import Nodes

# A node counts all coins of its network for one question.
COUNTING_SECONDS = 900.0


class Holdings(Protocol):
    """Of one asset at one block. Raises RpcError."""

    # So many addresses in one question.
    at_once: int

    def held(self, holders: Sequence[str]) -> dict[str, int]:
        """By address."""


def holdings_of(asset: Asset, number: int, nodes: Nodes) -> Holdings:
    """Raises RpcError."""
    kind = _Coins if has_coins(asset.chain) else EvmBalances
    return kind(asset, number, nodes)


def patience_of(chain: Chain) -> float | None:
    """How long one answer may take; None for what is usual."""
    return COUNTING_SECONDS if has_coins(chain) else None


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
