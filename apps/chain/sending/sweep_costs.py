"""The cost of a sweep at today's price of gas, and whether that is worth it.

The gas of a token's sweep is sent ahead, so there are two transactions; on a rollup each pays for
its bytes besides.
"""

from dataclasses import dataclass

from django.conf import settings

from apps.assets.models import Asset, Chain
from apps.assets.selectors import price_of
from apps.chain.providers.base import Nodes
from apps.chain.sending import fees
from apps.chain.sending.fee_coins import units
from apps.chain.sending.fees import FeeOffer
from apps.chain.sending.transfer_gas import TransferGas, transfer_gas
from apps.core import clock
from apps.core.money import Amount, exchanged

_PERCENT = 100  # basis points
ALL_BPS = 10_000


@dataclass(frozen=True)
class SweepPrice:
    """The offer of a sweep, what the next block asks at least, and the gas of transfers."""

    offer: FeeOffer
    least_fee_wei: int
    gas: TransferGas

    def limit(self, estimate: int) -> int:
        """Of a token's sweep: little more than the estimate, as the rest stays behind."""
        return max(estimate * 11 // 10, self.gas.with_margin(estimate))

    def funds(self, gas_limit: int) -> int:
        """The funds that a transaction needs at its address, in wei."""
        return gas_limit * self.offer.max_fee_wei + self.gas.beside_wei

    def cost(self, gas_limit: int) -> int:
        """The fee of a transaction that is mined now, in wei."""
        return gas_limit * self.least_fee_wei + self.gas.beside_wei

    def token_cost(self, gas_limit: int) -> int:
        """Of a token's sweep and of the transfer that brings its gas, in wei."""
        return self.cost(gas_limit) + self.cost(self.gas.native)


def price_on(chain: Chain, nodes: Nodes) -> SweepPrice | None:
    """None when gas is dearer than the ceiling. Raises RpcError."""
    block = nodes.call("eth_getBlockByNumber", ["latest", False])
    tip = fees.offered_tip(chain, nodes, block)
    base = fees.base_fee_of(block)
    offer = fees.for_sweeps(base, tip, fees.ceiling_of(chain))
    if offer is None:
        return None
    return SweepPrice(offer, base + tip, transfer_gas(chain, nodes))


def most_bps(asset: Asset) -> int:
    """The most of what a sweep brings that it may cost: what the asset says, or
    SWEEP_COST_PERCENT."""
    if asset.sweep_cost_bps is not None:
        return asset.sweep_cost_bps
    return int(settings.SWEEP_COST_PERCENT) * _PERCENT


def is_worth(
    asset: Asset, amount_atomic: int, cost_atomic: int, *, is_wanted: bool, is_old: bool = False
) -> bool:
    """Tell whether a sweep costs little enough of what it brings; of coins that have waited for
    long, SWEEP_AGED_COST_PERCENT at most; of those that the wallet lacks, no more than it
    brings."""
    most = most_bps(asset)
    if is_old:
        most = max(most, int(settings.SWEEP_AGED_COST_PERCENT) * _PERCENT)
    return cost_atomic * ALL_BPS <= amount_atomic * (ALL_BPS if is_wanted else most)


def least_worth(asset: Asset, cost_atomic: int) -> int:
    """The least amount whose sweep is worth so much."""
    return -(-cost_atomic * ALL_BPS // max(1, most_bps(asset)))


def in_coins(asset: Asset, native: Asset, wei: int) -> int | None:
    """Gas in units of the asset, rounded up; None while there is no rate of one of them."""
    if asset.pays_fees:
        return units(asset, wei)
    at = clock.real_now()
    paid, worth = price_of(native, "USD", at), price_of(asset, "USD", at)
    if paid is None or worth is None:
        return None
    return exchanged(Amount(native, units(native, wei)), paid, worth).atomic + 1
