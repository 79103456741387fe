"""Names of the code as people read them."""

# Proper names in codes, as their owners write them.
_NAMES = {
    "api": "API",
    "coingecko": "CoinGecko",
    "eip712": "EIP-712",
    "http": "HTTP",
    "id": "ID",
    "mime": "MIME",
    "oauth": "OAuth",
    "offramp": "off-ramp",
    "onramper": "Onramper",
    "po": "PO",
    "tx": "transaction",
    "uris": "URIs",
    "url": "URL",
    "x402": "x402",
}
# Codes whose words have another order.
_CODES = {
    "custody_cold": "Cold storage custody",
    "custody_deposits": "Deposit custody",
    "custody_hot": "Hot wallet custody",
    "custody_simulated": "Simulated custody",
}
_AS_WRITTEN = ("x402",)  # at the beginning of a sentence, too
# What columns end in that their values show.
_UNITS = ("_at", "_atomic", "_bps", "_cents", "_fraction")


def sentence(words: str) -> str:
    """As a sentence begins: `API keys` stays as it is."""
    return words[:1].upper() + words[1:]


def code_words(code: str) -> str:
    """A name of the code as a sentence begins: `payout_confirmed` is `Payout confirmed`."""
    if code in _CODES:
        return _CODES[code]
    text = " ".join(_NAMES.get(word, word) for word in code.split("_"))
    return text if text.startswith(_AS_WRITTEN) else sentence(text)


def column_words(column: str) -> str:
    """A column without its unit: `network_fee_atomic` is `Network fee`, `is_active` is `Active`."""
    unit = next((end for end in _UNITS if column.endswith(end)), "")
    return code_words(column.removesuffix(unit).removeprefix("is_"))
