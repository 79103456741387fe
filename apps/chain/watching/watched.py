"""The watcher's facts of a chain."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings

from apps.assets.models import Asset, Chain
from apps.chain.networks.base import Transfer
from apps.chain.networks.families import stored
from apps.core.money import atomic_from_decimal


@dataclass(frozen=True)
class Trust:
    """From how many units of an asset on a second node is asked, by asset; the blocks that two
    nodes have named; and whether nodes disagree, so that nothing counts."""

    least: Mapping[str, int]
    hashes: frozenset[str] = frozenset()
    is_disputed: bool = False


@dataclass(frozen=True)
class WatchedChain:
    chain: Chain
    native_asset_id: str | None
    asset_by_contract: dict[str, str]
    trust: Trust
    # The block that has the network's finality tag; None where it has none, or no node tells it.
    tagged_number: int | None = None

    @property
    def contracts(self) -> list[str]:
        return sorted(self.asset_by_contract)

    def asset_of(self, transfer: Transfer) -> str | None:
        return (
            self.asset_by_contract.get(transfer.contract)
            if transfer.contract
            else self.native_asset_id
        )


def thresholds(chain_id: str) -> dict[str, int]:
    """As SECOND_NODE_FROM says, in atomic units; an asset without a line needs one node only."""
    lines = dict(line.split("=", 1) for line in settings.SECOND_NODE_FROM)
    rows = Asset.objects.filter(pk__in=lines, chain=chain_id)
    least = {row.pk: atomic_from_decimal(lines[row.pk], row.atomic_decimals) for row in rows}
    return {asset_id: amount for asset_id, amount in least.items() if amount is not None}


def facts_of(chain_id: str) -> WatchedChain:
    """Without any second node's word."""
    assets = list(Asset.objects.filter(chain_id=chain_id))
    native = next((asset.pk for asset in assets if asset.is_native), None)
    return WatchedChain(
        Chain.objects.get(pk=chain_id),
        native,
        {stored(asset.contract_address): asset.pk for asset in assets if asset.contract_address},
        Trust(thresholds(chain_id)),
    )
