"""Names and tones of statuses on pages, and a coin's look: never by color or sign alone.

Each app has those of its nouns in `badges.py`; in `customer_badges.py` those that customers see,
whose words are translated.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from django.apps import apps
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.module_loading import module_has_submodule
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

# The tones of a status.
GOOD = "good"
WAIT = "wait"
BAD = "bad"
INFO = "info"
QUIET = "quiet"

Badges = Mapping[str, Mapping[str, tuple[str, str | Promise]]]
# Of any other coin the disc has the first letter.
_SIGNS = {
    "ETH": "\N{GREEK CAPITAL LETTER XI}",
    "USDC": "$",
    "USDT": "\N{TUGRIK SIGN}",
    "DAI": "\N{LATIN CAPITAL LETTER D WITH STROKE}",
}
_MODULES = ("badges", "customer_badges")

# noun -> status -> (tone, words)
BADGES: Badges = {
    "mail": {
        "queued": (WAIT, _("Queued")),
        "sent": (GOOD, _("Sent")),
        "failed": (BAD, _("Failed")),
        "dropped": (QUIET, _("Dropped")),
    },
}


@cache
def all_badges() -> Badges:
    """Those of every app. A status missing there is shown as it is. Raises ValueError when two apps
    have the same noun."""
    badges_by_noun: dict[str, Mapping[str, tuple[str, str | Promise]]] = {}
    for config in apps.get_app_configs():
        for name in _MODULES:
            if not config.name.startswith("apps.") or not module_has_submodule(config.module, name):
                continue
            badges: Badges = import_module(f"{config.name}.{name}").BADGES
            if twice := set(badges) & set(badges_by_noun):
                raise ValueError(f"{config.name}: another app has badges of {sorted(twice)}")
            badges_by_noun |= badges
    return badges_by_noun


def coin_badge(symbol: str, network: str = "") -> SafeString:
    """By sign and word, never by sign alone."""
    where = (
        format_html(
            ' <span class="muted">{}</span>',
            format_html(gettext('<span class="on">on </span>{network}'), network=network),
        )
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
