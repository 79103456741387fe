"""Amounts that people name in fiat, turned into coins: rounded down, and never above the most that
may go.

Services take atomic amounts alone; anyone who got the figures here agrees to the coins.
"""

from dataclasses import dataclass

from apps.assets.models import Asset
from apps.core import money
from apps.core.messages.fields import Invalid
from apps.core.money import BASIS_POINTS, CENTS, Amount, Bps, CoinPrice, Fiat
from apps.core.typed_amounts import cents_typed
from apps.payments.units import step_of


@dataclass(frozen=True)
class MaximumAmount:
    """The most of an asset that may go, and what a coin is worth where somebody names an amount in
    fiat."""

    amount: Amount[Asset]
    price: CoinPrice[Asset]

    @property
    def fiat(self) -> Fiat:
        """Displayed value of the maximum: in whole units of a currency that has no smaller ones."""
        return in_units(self.price.worth(self.amount))

    def coins_for(self, amount: Fiat) -> Amount[Asset]:
        """Coins for an amount of money, rounded down; the displayed value of the maximum gets all
        of it.

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


def fiat_text(worth: Fiat) -> str:
    """As somebody types it: `12.50`, and `1250` of a currency without cents."""
    text = money.text_from_cents(worth.cents)
    return text.partition(".")[0] if step_of(worth.currency) == CENTS else text


def fiat_typed(text: str, currency: str) -> Fiat:
    """A typed amount, in cents of a currency. Raises Invalid for the field `amount`."""
    cents = cents_typed(text, "amount", currency)
    if not cents:
        raise Invalid("amount", "positive")
    if cents % step_of(currency):
        raise Invalid("amount", "whole_unit", currency=currency)
    return Fiat(cents, currency)
