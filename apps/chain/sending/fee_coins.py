"""The coin in which a network takes its fees, as its nodes tell it: the network's own, or a
stablecoin on Tempo, which has no other kind of balance.

Gas money is counted in wei everywhere, of which a coin has 10^18. A stablecoin's units are read as
so many wei, and what is taken of it is rounded up to units, as the network does.
"""

from dataclasses import dataclass

from apps.assets.models import Asset, Chain, FeeModel
from apps.assets.selectors import fee_asset_of
from apps.chain.providers.base import Call

# The contract that takes fees on Tempo: they are told as a transfer to it.
COLLECTOR = "0xfeec" + "0" * 36

# Places of the money that prices of gas are written in.
DECIMALS = 18


def unit_wei(asset: Asset) -> int:
    """The gas money that one unit of a coin that pays fees is, in wei."""
    return 1 if asset.is_native else 10 ** (DECIMALS - asset.atomic_decimals)


def units(asset: Asset, wei: int) -> int:
    """So much gas money in units of a coin that pays fees, rounded up as networks do."""
    return -(-wei // unit_wei(asset))


@dataclass(frozen=True)
class FeeCoin:
    """Without a token it is the network's own coin."""

    token: Asset | None = None

    @property
    def contract(self) -> str:
        """Of the token; empty without one."""
        return str(self.token.contract_address) if self.token is not None else ""

    def call(self, holder: str, block: str = "latest") -> Call:
        """Asks how much of it somebody has."""
        if self.token is None:
            return "eth_getBalance", [holder, block]
        data = f"0x70a08231{holder[2:]:0>64}"
        return "eth_call", [{"to": self.contract, "data": data}, block]

    def wei(self, answer: object) -> int:
        """The balance that the answer names, in wei."""
        if self.token is None:
            return int(str(answer), 16)
        held = int(str(answer), 16) if answer not in ("0x", None) else 0
        return held * unit_wei(self.token)


def fee_coin(chain: Chain) -> FeeCoin:
    return FeeCoin(fee_asset_of(chain.pk) if chain.fee_model == FeeModel.STABLECOIN else None)
