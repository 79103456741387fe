"""Amounts that people name in fiat, turned into coins: rounded down, and never above the most that
may go.

Services take atomic amounts alone; whoever was told the figures here agrees to the coins.
"""

from dataclasses import dataclass

from apps.assets.models import Asset
from apps.core import money
from apps.core.messages.fields import FiatAmount, Invalid
from apps.core.money import BASIS_POINTS, CENTS, Amount, Bps, CoinPrice, Fiat
from apps.payments.services.prices import WHOLE_UNIT_CURRENCIES

_TYPED = FiatAmount()


@dataclass(frozen=True)
class Most:
    """The most of an asset that may go, and what a coin is worth where somebody names an amount in
    fiat."""

    amount: Amount[Asset]
    price: CoinPrice[Asset]

    @property
    def fiat(self) -> Fiat:
        """What the whole is said to be worth: in whole units of a currency that has no smaller
        ones."""
        return in_units(self.price.worth(self.amount))

    def coins_for(self, amount: Fiat) -> Amount[Asset]:
        """What an amount of money buys, rounded down; who names what the whole is said to be worth
        gets all of it.

        Raises Invalid: of more than the whole, and of what buys nothing.
        """
        whole = self.fiat
        if whole < amount:
            raise Invalid("amount", "above_maximum", maximum=whole)
        if amount == whole:
            return self.amount
        atomic = money.atomic_at_most(
            amount.cents, self.price.rate, self.amount.asset.atomic_decimals
        )
        if not atomic:
            raise Invalid("amount", "positive")
        return self._shortened(Amount(self.amount.asset, min(atomic, self.amount.atomic)))

    def _shortened(self, exact: Amount[Asset]) -> Amount[Asset]:
        """Down to the places that the coin is shown with, where that is still worth as many cents:
        people compare it."""
        asset = exact.asset
        step: int = 10 ** max(0, asset.atomic_decimals - asset.display_decimals)
        short = Amount(asset, exact.atomic - exact.atomic % step)
        return (
            short if short.atomic and self.price.worth(short) == self.price.worth(exact) else exact
        )

    def fiat_part(self, part_bps: Bps) -> Fiat:
        """So many basis points of the whole, rounded down to what can be paid in the currency."""
        return in_units(Fiat(money.share(self.fiat.cents, part_bps), self.price.currency))


def part_of(amount: Amount[Asset], part_bps: Bps) -> Amount[Asset]:
    """So many basis points of an amount, rounded down; all of it is all of it."""
    return (
        amount
        if part_bps == BASIS_POINTS
        else Amount(amount.asset, money.share(amount.atomic, part_bps))
    )


def in_units(worth: Fiat) -> Fiat:
    """Rounded down to the units that the currency has."""
    return Fiat(worth.cents - worth.cents % step_of(worth.currency), worth.currency)


def step_of(currency: str) -> int:
    """The smallest amount of a currency, in cents."""
    return CENTS if currency in WHOLE_UNIT_CURRENCIES else 1


def fiat_text(worth: Fiat) -> str:
    """As somebody types it: `12.50`, and `1250` of a currency without cents."""
    text = money.text_from_cents(worth.cents)
    return text.partition(".")[0] if step_of(worth.currency) == CENTS else text


def fiat_typed(text: str, currency: str) -> Fiat:
    """What somebody typed, in cents of a currency. Raises Invalid for the field `amount`."""
    cents = money.cents_from_text(_TYPED.check(text, "amount"))
    if cents % step_of(currency):
        raise Invalid("amount", "whole_unit", currency=currency)
    return Fiat(cents, currency)
