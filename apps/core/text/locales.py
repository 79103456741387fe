"""The locales of Babel, each made once."""

from functools import cache

from babel import Locale


@cache
def locale_of(name: str) -> Locale:
    """`de`, `zh_Hans`, `en_GB`. Raises UnknownLocaleError or ValueError."""
    return Locale.parse(name)
