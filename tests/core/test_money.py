"""Amounts that know their unit: they add up and compare within it, and refuse whatever mixes
two."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import pytest

from apps.core.money import Amount, AssetId, Bps, CoinPrice, Fiat, Unit, UnitMismatch, exchanged


@dataclass(frozen=True)
class Coin:
    unit: Unit


ETH = Coin(Unit(AssetId("ETH"), 18))
USDC = Coin(Unit(AssetId("USDC"), 6))


def test_money_of_one_currency_adds_up_and_compares() -> None:
    assert Fiat(1250, "EUR") + Fiat(50, "EUR") == Fiat(1300, "EUR")
    assert Fiat(1250, "EUR") - Fiat(1300, "EUR") == Fiat(-50, "EUR")
    assert Fiat(1, "EUR") < Fiat(2, "EUR") <= Fiat(2, "EUR")
    assert Fiat(3, "EUR") > Fiat(2, "EUR") >= Fiat(2, "EUR")
    assert str(Fiat(-1205, "CHF")) == "-12.05 CHF"
    assert Fiat(1, "EUR") != Fiat(1, "USD")


def test_amounts_of_one_asset_add_up_and_compare() -> None:
    assert Amount(USDC, 5) + Amount(USDC, 7) == Amount(USDC, 12)
    assert Amount(USDC, 5) - Amount(USDC, 7) == Amount(USDC, -2)
    assert Amount(USDC, 5) < Amount(USDC, 7) <= Amount(USDC, 7)
    assert Amount(USDC, 9) > Amount(USDC, 7) >= Amount(USDC, 7)
    assert str(Amount(USDC, 1_500_000)) == "1.5 USDC"


MIXED: list[Callable[[], object]] = [
    lambda: Fiat(1, "EUR") + Fiat(1, "USD"),
    lambda: Fiat(1, "EUR") - Fiat(1, "USD"),
    lambda: Fiat(1, "EUR") < Fiat(2, "USD"),
    lambda: Fiat(1, "EUR") >= Fiat(2, "USD"),
    lambda: Amount(ETH, 1) + Amount(USDC, 1),
    lambda: Amount(ETH, 1) - Amount(USDC, 1),
    lambda: Amount(ETH, 1) <= Amount(USDC, 1),
    lambda: Amount(ETH, 1) > Amount(USDC, 1),
    lambda: CoinPrice(ETH, Decimal(2000), "USD").worth(Amount(USDC, 1)),
    lambda: exchanged(
        Amount(ETH, 1), CoinPrice(USDC, Decimal(1), "USD"), CoinPrice(ETH, Decimal(2000), "USD")
    ),
    lambda: exchanged(
        Amount(ETH, 1), CoinPrice(ETH, Decimal(2000), "USD"), CoinPrice(USDC, Decimal(1), "EUR")
    ),
]


@pytest.mark.parametrize("mix", MIXED)
def test_whatever_mixes_two_units_is_refused(mix: Callable[[], object]) -> None:
    with pytest.raises(UnitMismatch):
        mix()


def test_a_price_says_what_an_amount_is_worth_half_even_to_the_cent() -> None:
    price = CoinPrice(USDC, Decimal("1.5"), "EUR")
    assert [price.worth(Amount(USDC, atomic)) for atomic in (10_000, 30_000, 1_000_000)] == [
        Fiat(2, "EUR"),
        Fiat(4, "EUR"),
        Fiat(150, "EUR"),
    ]


def test_what_an_exchange_brings_is_rounded_down_and_less_the_spread() -> None:
    sold = Amount(ETH, 10**18)
    price = CoinPrice(ETH, Decimal(2000), "USD")
    bought = CoinPrice(USDC, Decimal(3), "USD")
    assert exchanged(sold, price, bought) == Amount(USDC, 666_666_666)
    assert exchanged(sold, price, bought, Bps(50)) == Amount(USDC, 663_333_333)
    assert Amount(USDC, 999).after_slippage(Bps(100)) == Amount(USDC, 989)
