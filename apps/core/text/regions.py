"""In which form dates, amounts and numbers are shown to a reader who chose one; the words around
them stay in the page's language.

Anyone who chose nothing reads the form of the language. What is typed, copied or exported is plain
everywhere.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache

from babel import Locale, UnknownLocaleError
from babel.numbers import format_currency
from django.utils.translation import get_language, get_language_bidi, to_locale

from apps.core.money import Fiat, text_from_cents
from apps.core.text.locales import locale_of

# By name, as people who know it call it. Arabic as it is written with Latin digits.
REGIONS = {
    "en-US": "English (United States)",
    "en-GB": "English (United Kingdom)",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "pt": "Português",
    "it": "Italiano",
    "nl": "Nederlands",
    "pl": "Polski",
    "tr": "Türkçe",
    "ja": "日本語",
    "zh-Hans": "简体中文",
    "ko": "한국어",
    "ar": "العربية",
}
AMOUNTS_KEPT_MAX = 2048
LANGUAGES_KEPT_MAX = 64
_LETTER_AND_DIGIT = re.compile(r"(?<=[^\W\d_])(?=\d)")
_chosen: ContextVar[str] = ContextVar("region", default="")


def chosen() -> Locale | None:
    """The reader's chosen locale; None when that is nothing."""
    name = _chosen.get()
    return _locale(name) if name in REGIONS else None


def _locale(name: str) -> Locale:
    return locale_of("ar_AE" if name == "ar" else name.replace("-", "_"))


def own_locale() -> Locale:
    """Of the form that the reader chose, else of the page's language."""
    return chosen() or _locale_of_language(get_language() or "en")


# Asked for each amount and each day of a page.
@lru_cache(maxsize=LANGUAGES_KEPT_MAX)
def _locale_of_language(language: str) -> Locale:
    try:
        return locale_of(to_locale(language))
    except (UnknownLocaleError, ValueError):
        return locale_of("en")


@cache
def _runs_left(name: str) -> bool:
    return bool(_locale(name).text_direction == "rtl")


def isolated(text: str) -> str:
    """Text isolated within a sentence that runs from right to left, so that it keeps its own order,
    in plain text and files too."""
    name = _chosen.get()
    if not (_runs_left(name) if name in REGIONS else get_language_bidi()):
        return text
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"


@contextmanager
def shown_in(name: str) -> Iterator[None]:
    token = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(token)


def set_apart(text: str) -> str:
    """A currency without a sign is separate from its digits."""
    return _LETTER_AND_DIGIT.sub("\N{NO-BREAK SPACE}", text)


@lru_cache(maxsize=AMOUNTS_KEPT_MAX)
def formatted(amount: Fiat, locale: Locale, *, currency_digits: bool = True) -> str:
    """An amount in the locale's form. The last ones are kept: lists show the same prices again and
    again, and Babel takes 0.1 ms for each."""
    text = format_currency(
        text_from_cents(amount.cents),
        amount.currency,
        locale=locale,
        currency_digits=currency_digits,
    )
    return set_apart(text)


def in_english(amount: Fiat) -> str:
    """For what is kept before anybody reads it, such as the title of a notification: whatever the
    language of the person who causes it."""
    return formatted(amount, locale_of("en"))
