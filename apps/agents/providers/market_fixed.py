"""The embedded source of market figures: a fixed table, so that demos and tests repeat and nothing
outside is asked."""

from decimal import Decimal

from apps.agents.providers.base import MarketFigures, TokenUnknown

# public id -> (symbol, dollars per coin, coins in circulation, coins traded in a day, change in a
# day in percent)
COINS = {
    "ethereum": ("ETH", Decimal(2000), 120_000_000, 6_000_000, Decimal("1.25")),
    "usd-coin": ("USDC", Decimal(1), 60_000_000_000, 8_000_000_000, Decimal("0.01")),
    "tether": ("USDT", Decimal(1), 140_000_000_000, 60_000_000_000, Decimal("-0.01")),
    "polygon-ecosystem-token": (
        "POL",
        Decimal("0.25"),
        10_000_000_000,
        300_000_000,
        Decimal("-2.5"),
    ),
}
# What one dollar is in other currencies.
DOLLAR = {
    "usd": Decimal(1),
    "eur": Decimal("0.9"),
    "gbp": Decimal("0.775"),
    "hkd": Decimal("7.8"),
    "sgd": Decimal("1.35"),
    "jpy": Decimal(150),
    "dkk": Decimal("6.75"),
    "chf": Decimal("0.875"),
    "sek": Decimal("10.25"),
    "nok": Decimal("10.5"),
}


class FixedMarket:
    name = "fixed"

    def figures(self, symbol_or_id: str, currency: str) -> MarketFigures:
        for coin_id, (symbol, price, supply, traded, change) in COINS.items():
            if symbol_or_id in (coin_id, symbol) and currency in DOLLAR:
                unit_price = price * DOLLAR[currency]
                return MarketFigures(
                    coin_id, unit_price, unit_price * supply, unit_price * traded, change
                )
        raise TokenUnknown
