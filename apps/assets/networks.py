"""Known coins, on whatever network."""

# Coins that keep to the price of a dollar, which balances are summed up in.
STABLECOINS = ("USDC", "USDT")
# Coins that keep to the price of a currency, and which: what a customer pays with knows no weather.
PAR_CURRENCIES = {"USDC": "USD", "USDT": "USD", "EURC": "EUR", "USDC.e": "USD", "pathUSD": "USD"}
STEADY_COINS = tuple(PAR_CURRENCIES)
# Coins that a bridge gives out for another one and takes back at par.
_BRIDGED = {"USDC.e": "USDC"}


def priced_as(symbol: str) -> str:
    """The coin that sources of rates are asked for."""
    return _BRIDGED.get(symbol, symbol)
