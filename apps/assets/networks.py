"""Known coins, on whatever network."""

# Coins that keep to the price of a dollar, which balances are summed up in.
STABLECOINS = ("USDC", "USDT")
# Coins that keep to the price of a currency, and which: what a customer pays with knows no weather.
PAR_CURRENCIES = {"USDC": "USD", "USDT": "USD", "EURC": "EUR", "USDC.e": "USD", "pathUSD": "USD"}
STEADY_COINS = tuple(PAR_CURRENCIES)
# Coins that no source quotes and that are given out for another one and taken back at par: by a
# bridge, and pathUSD by its issuer. They are worth what that one is.
_REDEEMED_IN = {"USDC.e": "USDC", "pathUSD": "USDC"}


def priced_as(symbol: str) -> str:
    """The coin that sources of rates are asked for."""
    return _REDEEMED_IN.get(symbol, symbol)
