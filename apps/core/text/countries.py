"""Countries by their code (ISO 3166-1, two letters), their names in English, and the code behind
what people write for one."""

import json
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from django.utils.translation import get_language, to_locale

from apps.core.text.locales import locale_of

# Code -> capitalized names in the languages of those who are billed most, as Babel has them. A file
# of our own: eleven languages stay in a process that has asked Babel for one name in each, nine
# megabytes of them.
NAMES = Path(__file__).with_name("country_names.json")
# The list of territories has them too.
_NOT_COUNTRIES = frozenset({"EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"})
# How the common ones are written too.
_OTHER_NAMES = {
    "UK": "GB",
    "GREAT BRITAIN": "GB",
    "ENGLAND": "GB",
    "SCOTLAND": "GB",
    "WALES": "GB",
    "USA": "US",
    "UNITED STATES OF AMERICA": "US",
    "HONG KONG": "HK",
    "MACAU": "MO",
    "CZECH REPUBLIC": "CZ",
    "HOLLAND": "NL",
    "TURKEY": "TR",
}


@cache
def _codes() -> dict[str, str]:
    """Capitalized codes and names -> code."""
    names = json.loads(NAMES.read_text("utf-8"))
    codes = {name: code for code, several in names.items() for name in several}
    return codes | _OTHER_NAMES | {code: code for code in names}


def countries() -> list[tuple[str, str]]:
    """(code, name) of every country, by name, in the reader's language."""
    return _countries(get_language() or "en")


@lru_cache(maxsize=4)
def _countries(language: str) -> list[tuple[str, str]]:
    territories = [(str(code), str(name)) for code, name in _territories(language).items()]
    countries = [
        (code, name) for code, name in territories if len(code) == 2 and code not in _NOT_COUNTRIES
    ]
    return sorted(countries, key=lambda country: (_plain(country[1]), country[1]))


def country_name(code: str) -> str:
    """`DE` -> `Germany`, in the reader's language; what is no code stays as it is."""
    return (
        str(_territories(get_language() or "en").get(code, code))
        if country_code(code) == code
        else code
    )


def _territories(language: str) -> Mapping[str, str]:
    territories: Mapping[str, str] = locale_of(to_locale(language)).territories
    return territories


def _plain(name: str) -> str:
    """As people look it up: accents don't count (`Österreich` is among the O)."""
    return "".join(
        letter
        for letter in unicodedata.normalize("NFKD", name)
        if not unicodedata.combining(letter)
    ).casefold()


def country_code(text: object) -> str | None:
    """`Germany`, `DE` or `de` -> `DE`; None for what is no country."""
    return _codes().get(" ".join(text.split()).upper()) if isinstance(text, str) else None
