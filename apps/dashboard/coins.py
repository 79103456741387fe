"""Coins on pages: amounts as people type them, and what of each a store can spend."""

from dataclasses import dataclass

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.core import money
from apps.core.literal import Invalid
from apps.ledger.selectors import balances


@dataclass(frozen=True)
class Spendable:
    """An asset of which the store can spend something."""

    asset: Asset
    available_atomic: int


def spendable(access: Access) -> list[Spendable]:
    held = balances(access.store_id, access.mode)
    found = [Spendable(one, held[one.pk].available_atomic) for one in active_assets(access.mode) if one.pk in held]
    return [one for one in found if one.available_atomic > 0]


def atomic_typed(text: str, asset: Asset) -> int:
    """`0.5` as atomic units of the asset. Raises Invalid for the field `amount`."""
    amount = money.atomic_from_coins(text, asset.atomic_decimals)
    if amount is None:
        raise Invalid("amount", "coins", places=asset.atomic_decimals)
    if not amount:
        raise Invalid("amount", "positive")
    return amount
