"""Coins on pages: amounts as people type them, and what of each a store can spend."""

from dataclasses import dataclass

from apps.access.access import Access
from apps.assets.models import Asset
from apps.assets.selectors import active_priced
from apps.core import clock, money
from apps.core.messages.fields import Invalid
from apps.core.money import Amount, CoinPrice
from apps.core.templatetags.tillgate import fiat
from apps.core.typed_amounts import coins_typed
from apps.ledger.selectors import balances

# A rate below it is said of more than one coin.
LEAST_CENTS = 10


@dataclass(frozen=True)
class Spendable:
    """An asset of which the store can spend something."""

    asset: Asset
    available_atomic: int
    price: CoinPrice[Asset] | None = None

    @property
    def available(self) -> Amount[Asset]:
        return Amount(self.asset, self.available_atomic)


@dataclass(frozen=True)
class CoinsOfMode:
    """The active assets of a mode, and what the store can spend of them."""

    assets: list[Asset]
    spendable: list[Spendable]


def coins_of(access: Access) -> CoinsOfMode:
    """Each with its price in the store's currency."""
    currency = access.store.settlement_currency
    accounts = balances(access.store_id, access.mode)
    priced = active_priced(access.mode, currency, clock.real_now())
    coins = [
        Spendable(
            asset,
            accounts[asset.pk].available_atomic,
            None if rate is None else CoinPrice(asset, rate, currency),
        )
        for asset, rate in priced
        if asset.pk in accounts
    ]
    return CoinsOfMode(
        [asset for asset, _ in priced], [item for item in coins if item.available_atomic > 0]
    )


def spendable(access: Access) -> list[Spendable]:
    return coins_of(access).spendable


def atomic_typed(text: str, asset: Asset) -> int:
    """`0.5` as atomic units of the asset. Raises Invalid for the field `amount`."""
    plain = coins_typed(text, "amount", asset.atomic_decimals)
    amount = money.atomic_from_coins(plain, asset.atomic_decimals)
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
