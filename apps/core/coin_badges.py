"""A coin as pages show it: its sign in a disc, its word, and the network that it is on."""

from django.utils.html import format_html
from django.utils.safestring import SafeString

# Of any other coin the first letter stands in the disc.
_SIGNS = {
    "ETH": "\N{GREEK CAPITAL LETTER XI}",
    "USDC": "$",
    "USDT": "\N{TUGRIK SIGN}",
    "DAI": "\N{LATIN CAPITAL LETTER D WITH STROKE}",
}


def coin_badge(symbol: str, network: str = "") -> SafeString:
    """By sign and word, never by sign alone."""
    where = (
        format_html(' <span class="muted"><span class="on">on </span>{}</span>', network)
        if network
        else ""
    )
    return format_html(
        '<span class="coin">{}<span>{}{}</span></span>', coin_sign(symbol), symbol, where
    )


def coin_sign(symbol: str) -> SafeString:
    """The disc alone, beside words that name the coin."""
    css_class = symbol.lower() if symbol in _SIGNS else ""
    markup = '<span class="coin-sign {}" aria-hidden="true">{}</span>'
    return format_html(markup, css_class, _SIGNS.get(symbol, symbol[:1]))
