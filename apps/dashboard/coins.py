"""Coins on pages: amounts as people type them, and what of each a store can spend."""

from dataclasses import dataclass

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.selectors import active_assets
from apps.core import money
from apps.core.messages.fields import Invalid
from apps.core.money import Amount, CoinPrice
from apps.core.templatetags.tillgate import fiat
from apps.ledger.selectors import balances

# A rate below it is said of more than one coin.
LEAST_CENTS = 10


@dataclass(frozen=True)
class Spendable:
    """An asset of which the store can spend something."""

    asset: Asset
    available_atomic: int


def spendable(access: Access) -> list[Spendable]:
    accounts = balances(access.store_id, access.mode)
    coins = [
        Spendable(item, accounts[item.pk].available_atomic)
        for item in active_assets(access.mode)
        if item.pk in accounts
    ]
    return [item for item in coins if item.available_atomic > 0]


def atomic_typed(text: str, asset: Asset) -> int:
    """`0.5` as atomic units of the asset. Raises Invalid for the field `amount`."""
    amount = money.atomic_from_coins(text, asset.atomic_decimals)
    if amount is None:
        raise Invalid("amount", "coins", places=asset.atomic_decimals)
    if not amount:
        raise Invalid("amount", "positive")
    return amount


def rate_words(price: CoinPrice[Asset]) -> str:
    """`1 ETH = €1,800.00`, on one line. What a tiny coin is worth is said of as many as are worth a
    cent."""
    for coins in (1, 1_000, 1_000_000):
        worth = price.worth(Amount(price.asset, coins * 10**price.asset.atomic_decimals))
        if worth.cents >= LEAST_CENTS or coins == 1_000_000:
            break
    text = f"{coins:,} {price.asset.coin_symbol} = {fiat(worth.cents, worth.currency)}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")
