"""What each accepted asset must pay for a fiat price. Required amounts round up to what a customer
can type."""

from dataclasses import dataclass
from decimal import Decimal

from apps.assets.selectors import PricedAsset
from apps.core import money


@dataclass(frozen=True)
class AssetPrice:
    """The amounts of one payment address. `base_atomic` and `fee_atomic` are there when the fee is
    on top."""

    priced: PricedAsset
    required_atomic: int
    base_atomic: int | None = None
    fee_atomic: int | None = None


def price(cents: int, priced: PricedAsset, fee_fraction: Decimal | None) -> AssetPrice:
    """The price in one asset at its current rate; with `fee_fraction` grossed up so that the
    merchant nets the base."""
    asset = priced.asset
    base = money.atomic_for_cents(cents, priced.rate, asset.atomic_decimals, asset.display_decimals)
    if fee_fraction is None:
        return AssetPrice(priced, base)
    total = money.gross_up(base, fee_fraction, asset.atomic_decimals, asset.display_decimals)
    return AssetPrice(priced, total, base, total - base)
