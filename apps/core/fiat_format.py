"""Amounts of money as people read them, in the form of a language: €24.90, CHF 12.50."""

import re

from babel import Locale
from babel.numbers import format_currency

from apps.core.locales import locale_of
from apps.core.money import Fiat, text_from_cents

_LETTER_AND_DIGIT = re.compile(r"(?<=[^\W\d_])(?=\d)")


def set_apart(text: str) -> str:
    """A currency without a sign stands apart from its digits."""
    return _LETTER_AND_DIGIT.sub("\N{NO-BREAK SPACE}", text)


def formatted(amount: Fiat, locale: Locale, *, currency_digits: bool = True) -> str:
    text = format_currency(
        text_from_cents(amount.cents),
        amount.currency,
        locale=locale,
        currency_digits=currency_digits,
    )
    return set_apart(text)


def in_english(amount: Fiat) -> str:
    """For what is kept before anybody reads it, such as the title of a notification: whatever the
    language of whoever causes it."""
    return formatted(amount, locale_of("en"))
