"""Known coins, on whatever network."""

# Coins that keep to the price of a dollar, which balances are summed up in.
STABLECOINS = ("USDC", "USDT")
# Coins that keep to the price of a currency: what a customer pays with knows no weather.
STEADY_COINS = (*STABLECOINS, "EURC", "USDC.e", "pathUSD")
