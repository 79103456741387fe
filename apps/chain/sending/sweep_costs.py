"""The cost of a sweep at today's price of gas, and whether that is worth it.

The gas of a token's sweep is sent ahead, so there are two transactions; on a rollup each pays for
its bytes besides.
"""

from dataclasses import dataclass

from django.conf import settings

from apps.assets.models import Asset, Chain
from apps.assets.selectors import price_of
from apps.chain.providers.base import Call, Nodes, RpcError
from apps.chain.sending import fees
from apps.chain.sending.balances import NATIVE_GAS
from apps.chain.sending.fees import FeeOffer
from apps.core import clock
from apps.core.money import Amount, exchanged

# Of the OP stack: asked what the bytes of a transaction cost on the chain below.
_ORACLE = "0x420000000000000000000000000000000000000f"
_BYTES = 180  # of a signed transfer of tokens
_GET_L1_FEE = "0x49948e0e" + f"{32:064x}{_BYTES:064x}" + "ff" * _BYTES + "00" * (-_BYTES % 32)
ORACLE_CALL: Call = ("eth_call", [{"to": _ORACLE, "data": _GET_L1_FEE}, "latest"])
_PERCENT = 100


@dataclass(frozen=True)
class SweepPrice:
    """The offer of a sweep, what the next block asks at least, and what its bytes cost."""

    offer: FeeOffer
    least_fee_wei: int
    bytes_wei: int

    def funds(self, gas_limit: int) -> int:
        """The funds that a transaction needs at its address, in wei."""
        return gas_limit * self.offer.max_fee_wei + self.bytes_wei

    def cost(self, gas_limit: int) -> int:
        """The fee of a transaction that is mined now, in wei."""
        return gas_limit * self.least_fee_wei + self.bytes_wei

    def token_cost(self, gas_limit: int) -> int:
        """Of a token's sweep and of the transfer that brings its gas, in wei."""
        return self.cost(gas_limit) + self.cost(NATIVE_GAS)


def price_on(chain: Chain, nodes: Nodes) -> SweepPrice | None:
    """None when gas is dearer than the ceiling. Raises RpcError."""
    block = nodes.call("eth_getBlockByNumber", ["latest", False])
    tip = fees.tip_of(nodes, block)
    base = fees.base_fee_of(block)
    offer = fees.for_sweeps(base, tip, settings.SIGNER_MAX_FEE_GWEI * fees.GWEI)
    if offer is None:
        return None
    [answer] = nodes.each([ORACLE_CALL])
    is_rollup = not isinstance(answer, RpcError) and answer not in ("0x", None)
    bytes_wei = int(str(answer), 16) * 5 // 4 if is_rollup else 0
    return SweepPrice(offer, base + tip, bytes_wei)


def gas_margin(estimate: int) -> int:
    """The limit of a token's sweep: little more than the estimate, as the rest stays behind."""
    return estimate * 11 // 10


def is_worth(amount_atomic: int, cost_atomic: int, *, is_wanted: bool) -> bool:
    """Tell whether a sweep costs at most SWEEP_COST_PERCENT of what it brings; of coins that the
    wallet lacks, no more than it brings."""
    percent = _PERCENT if is_wanted else settings.SWEEP_COST_PERCENT
    return cost_atomic * _PERCENT <= amount_atomic * percent


def least_worth(cost_atomic: int) -> int:
    """The least amount whose sweep is worth so much."""
    return -(-cost_atomic * _PERCENT // max(1, settings.SWEEP_COST_PERCENT))


def in_coins(asset: Asset, native: Asset, wei: int) -> int | None:
    """Gas in units of the asset, rounded up; None while there is no rate of one of them."""
    if asset.is_native:
        return wei
    at = clock.real_now()
    paid, worth = price_of(native, "USD", at), price_of(asset, "USD", at)
    if paid is None or worth is None:
        return None
    return exchanged(Amount(native, wei), paid, worth).atomic + 1
