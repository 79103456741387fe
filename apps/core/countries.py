"""Countries by their code (ISO 3166-1, two letters), their names in English, and the code behind what people write for one."""

from functools import cache

from babel import Locale

# No countries, though the list of territories has them.
_NOT_COUNTRIES = frozenset({"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "XK", "ZZ"})
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
_LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "da", "nb", "sv", "pt", "pl")


@cache
def _codes() -> dict[str, str]:
    """Capitalized codes and names in the languages of those who are billed most -> code."""
    known: dict[str, str] = {}
    for language in _LANGUAGES:
        for code, name in Locale(language).territories.items():
            if len(code) == 2 and code.isalpha() and code not in _NOT_COUNTRIES:
                known.setdefault(str(name).upper(), code)
    return known | _OTHER_NAMES | {code: code for code in known.values()}


def country_name(code: str) -> str:
    """`DE` -> `Germany`; what is no code stays as it is."""
    return str(Locale("en").territories.get(code, code)) if country_code(code) == code else code


def country_code(text: object) -> str | None:
    """`Germany`, `DE` or `de` -> `DE`; None for what is no country."""
    return _codes().get(" ".join(text.split()).upper()) if isinstance(text, str) else None
