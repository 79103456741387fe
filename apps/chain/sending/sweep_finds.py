"""Coins at deposit addresses that a round of the sweeper has found, and those that can be moved."""

from dataclasses import dataclass

from apps.assets.models import Asset
from apps.chain.sending.sweep_batches import PART_GAS
from apps.chain.sending.transfer_gas import INTRINSIC_GAS


@dataclass(frozen=True)
class Found:
    """An address, what is left there of an asset, and whether it is brought because the wallet
    lacks it, or because it has waited for long."""

    asset: Asset
    address: str
    left_atomic: int
    is_wanted: bool = False
    is_old: bool = False


@dataclass(frozen=True)
class Movable:
    """The coins of a token that can be brought from an address, the gas money that is there, and
    the gas that it takes."""

    holding: Found
    amount_atomic: int
    fee_wei: int
    gas_limit: int

    def in_batch(self, signature_gas: int) -> int:
        """The gas that it takes as a part of a batch, at most, with that of what it signs."""
        return self.gas_limit - INTRINSIC_GAS + PART_GAS + signature_gas
