"""Networks and coins that this release knows, read from the table beside this module
(catalog.toml). The settings take their limits from it, so nothing here imports Django."""

import tomllib
from pathlib import Path
from typing import Literal

import msgspec

_TABLE = Path(__file__).with_suffix(".toml")
# How a network takes its fees: a price for gas in its own coin; the same and a share of Ethereum's
# fees, which OP-stack networks tell beside it and Arbitrum counts as gas; a price for gas in a
# stablecoin; a price for bytes.
FeeModel = Literal["plain", "op_stack", "arbitrum", "stablecoin", "bytes"]
# When nothing takes a block back: after two epochs of Ethereum; when Ethereum has final data of it;
# at a milestone of the network's validators; as soon as it is there; never for sure.
Finality = Literal["epochs", "ethereum", "milestones", "instant", "work"]


class CatalogCoin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A coin of a network; without a contract the network's own, except for a token that nobody has
    named yet.

    `pays_fees` is set on the one that a network takes fees in, where it has no coin of its own.
    `caps` are the limits of one transaction and of a day, `alarm` that of all stores' day before
    somebody is called, `sweep_minimum` the amount from which on deposits are swept, `fee_floor`
    what a hot wallet should have for fees: all in coins, empty for none.
    """

    asset_id: str
    symbol: str
    name: str
    decimals: int
    contract: str = ""
    eip712_name: str = ""
    eip712_version: str = ""
    minimum_atomic: int = 1_000_000
    caps: str = ""
    alarm: str = ""
    sweep_minimum: str = ""
    fee_floor: str = ""
    pays_fees: bool = False
    pays_banks: bool = False
    is_listed: bool = True

    @property
    def display_decimals(self) -> int:
        return min(self.decimals, 8)


class CatalogNetwork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`id` is its name in settings and in the API, `symbol` the short one, `fee_symbol` the coin
    that fees are paid in. `wallet_url` is a public node for wallets that don't have the network
    yet. `fee_ceiling` is the most that is offered for gas and `tip_floor` the least beyond the base
    fee, in gwei; `gas_margin` what gas limits are above the estimate, in percent: 0 for none of its
    own. On a network that `settles_later`, headers may have what blocks before have done, and say
    so. `finality_tag`, `counts_confirmations` and `tag_confirmations` are the rule by which blocks
    count (apps/assets/models.py).
    """

    id: str
    name: str
    symbol: str
    number: int
    mode: Literal["live", "test"]
    confirmations: int
    confirmations_floor: int
    block_milliseconds: int
    fee_symbol: str
    fee_model: FeeModel
    finality: Finality
    coins: tuple[CatalogCoin, ...]
    finality_tag: Literal["", "safe", "finalized"] = ""
    counts_confirmations: bool = True
    tag_confirmations: int = 0
    explorer_url: str = ""
    wallet_url: str = ""
    fee_ceiling: int = 0
    tip_floor: int = 0
    gas_margin: int = 0
    settles_later: bool = False
    family: Literal["evm", "bitcoin"] = "evm"


NETWORKS: tuple[CatalogNetwork, ...] = msgspec.convert(
    tomllib.loads(_TABLE.read_text())["network"], tuple[CatalogNetwork, ...]
)
_COINS = tuple(coin for network in NETWORKS for coin in network.coins)


def network_ids(family: str = "") -> tuple[str, ...]:
    """Of one family, or of all."""
    return tuple(network.id for network in NETWORKS if family in ("", network.family))


def network_in_catalog(network_id: str) -> CatalogNetwork | None:
    return next((network for network in NETWORKS if network.id == network_id), None)


def caps() -> list[str]:
    """Lines of SIGNER_CAPS."""
    return [f"{coin.asset_id}={coin.caps}" for coin in _COINS if coin.caps]


def alarms() -> list[str]:
    """Lines of SIGNER_ALARMS."""
    return [f"{coin.asset_id}={coin.alarm}" for coin in _COINS if coin.alarm]


def fee_floors() -> list[str]:
    """Lines of SIGNER_GAS_FLOORS."""
    return [f"{coin.asset_id}={coin.fee_floor}" for coin in _COINS if coin.fee_floor]


def fee_ceilings() -> list[str]:
    """Lines of SIGNER_FEE_CEILINGS."""
    return [f"{network.id}={network.fee_ceiling}" for network in NETWORKS if network.fee_ceiling]


def tip_floors() -> list[str]:
    """Lines of SIGNER_TIP_FLOORS."""
    return [f"{network.id}={network.tip_floor}" for network in NETWORKS if network.tip_floor]


def gas_margins() -> list[str]:
    """Lines of SIGNER_GAS_MARGINS."""
    return [f"{network.id}={network.gas_margin}" for network in NETWORKS if network.gas_margin]


def sweep_minimums() -> list[str]:
    """Lines of SWEEP_MINIMUMS."""
    return [f"{coin.asset_id}={coin.sweep_minimum}" for coin in _COINS if coin.sweep_minimum]
