"""Amounts as people type them, on whatever keypad: `12,50`, `1.234,50`, `1'234.50`, `１２００`.

One reading of a text for every page. A mark that may be a decimal mark or a thousands mark is
decided by the reader's form of numbers (apps.core.text.regions), or asked about: never guessed.
"""

import re
import unicodedata

from babel.numbers import get_currency_precision

from apps.core import money
from apps.core.messages.fields import Invalid
from apps.core.text.regions import own_locale

FIAT_PLACES = 2
WHOLE_MAX = 9  # digits before the decimal mark of an amount of money
LENGTH_MAX = 80
_POINTS = {"．": ".", "。": ".", "，": ",", "、": ",", "٫": ".", "٬": "'"}
_APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}`´＇ʼ"
_ARABIC_DECIMAL = "٫"  # which is nothing else anywhere
_GROUP = "'"  # of a mark that is a decimal mark nowhere
_GROUPED = re.compile(r"[0-9]{1,3}(?:([.,'])[0-9]{3})(?:\1[0-9]{3})*", re.ASCII)
_ONE_MARK = re.compile(r"([0-9]*)([.,])([0-9]+)", re.ASCII)


class Ambiguous(Invalid):
    """A number that people of one country read otherwise than those of another."""

    def __init__(self, field: str, written: str, whole: str, part: str) -> None:
        self.readings = whole, part
        super().__init__(field, "two_readings", written=written, whole=whole, part=part)


def cents_typed(text: str, name: str, currency: str = "") -> int:
    """An amount of money -> cents, zero too. Three digits after the reader's own thousands mark are
    thousands, as they are in a currency without cents after any. Raises Invalid."""
    places = get_currency_precision(currency) if currency else FIAT_PLACES
    plain = _plain(text, name, is_fiat=True, is_whole=places == 0)
    whole, _, part = plain.partition(".")
    if len(whole) > WHOLE_MAX or len(part) > FIAT_PLACES:
        raise Invalid(name, "number")
    return money.cents_from_text(plain)


def cents_meant(text: str) -> tuple[int, ...]:
    """Amounts of money that somebody who searches may mean: both of a text with two readings, none
    of what is no amount."""
    try:
        return (cents_typed(text, "amount"),)
    except Ambiguous as asked:
        return tuple(cents_typed(reading, "amount") for reading in asked.readings)
    except Invalid:
        return ()


def coins_typed(text: str, name: str, places: int) -> str:
    """An amount of coins -> digits with a point at most, as services take it. Raises Invalid."""
    wrong = Invalid(name, "coins", places=places)
    try:
        plain = _plain(text, name, is_fiat=False, is_whole=False)
    except Ambiguous:
        raise
    except Invalid:
        raise wrong from None
    if money.atomic_from_coins(plain, places) is None:
        raise wrong
    return plain


def percent_text(text: str) -> str:
    """`7,7`, `7.7%` or the same in another script's digits -> `7.7`: of a percentage the only mark
    is the decimal mark. What is no number stays as it is."""
    marked = _with_few_marks(text.strip().removesuffix("%").removesuffix("％"))
    return marked.replace(",", ".") if marked.count(",") == 1 else marked


def percent_typed(text: str, name: str) -> int:
    """A percentage with at most two places -> basis points. Raises Invalid."""
    plain = percent_text(text)
    bps = money.atomic_from_coins(plain, FIAT_PLACES) if plain else None
    if bps is None:
        raise Invalid(name, "number")
    return bps


def whole_typed(text: str, name: str, *, digits_max: int = 12) -> int:
    """A number of things or days, in any script's digits. Raises Invalid."""
    plain = text.strip()
    if not plain.isdecimal() or len(plain) > digits_max:
        raise Invalid(name, "whole_number")
    return int(plain)


def listed(text: str, name: str) -> list[str]:
    """`5, 7.5, 10` or `5; 7,5; 10` in parts. A comma between digits may be a decimal mark, so a
    list that has one is separated by semicolons. Raises Invalid."""
    separator = ";" if ";" in text else ","
    if separator == "," and re.search(r"\d\s*,\d", text):
        raise Invalid(name, "mixed_commas")
    return [part.strip() for part in text.split(separator) if part.strip()]


def unmistakable(plain: str) -> str:
    """A plain number as a form begins with it: read alike in every country."""
    whole, _, part = plain.partition(".")
    return f"{plain}0" if len(part) == 3 and 0 < len(whole) <= 3 else plain


def _plain(text: str, name: str, *, is_fiat: bool, is_whole: bool) -> str:
    """Digits with a point at most. Raises Invalid or Ambiguous."""
    marked = _with_few_marks(text)
    found = _ONE_MARK.fullmatch(marked)
    if found is not None and _ARABIC_DECIMAL in text:
        return f"{found[1] or '0'}.{found[3]}"
    if found is not None:
        return _read(found, name, is_fiat=is_fiat, is_whole=is_whole)
    if re.fullmatch(r"[0-9]+", marked, re.ASCII):
        return marked
    # Of several marks the last is the decimal mark, unless it is the one of the groups before.
    head, part = marked, ""
    if _GROUPED.fullmatch(marked) is None:
        at = max(marked.rfind("."), marked.rfind(","))
        head, part = (marked[:at], marked[at + 1 :]) if at > 0 else ("", "")
        groups = _GROUPED.fullmatch(head)
        is_number = re.fullmatch(r"[0-9]+", part, re.ASCII) is not None
        if not is_number or groups is None or groups[1] == marked[at]:
            raise Invalid(name, "number")
    whole = re.sub(r"[.,']", "", head)
    return f"{whole}.{part}" if part else whole


def _read(found: "re.Match[str]", name: str, *, is_fiat: bool, is_whole: bool) -> str:
    """A number with one mark."""
    whole, mark, part = found.groups()
    decimal = f"{whole or '0'}.{part}"
    if len(part) != 3 or not 0 < len(whole) <= 3 or whole.startswith("0"):
        return decimal
    symbols = own_locale().number_symbols["latn"]
    if is_whole or (is_fiat and mark == symbols["group"]):
        return whole + part
    if not is_fiat and mark == symbols["decimal"]:
        return decimal
    short = f"{whole}.{part[:FIAT_PLACES]}" if is_fiat else unmistakable(decimal)
    raise Ambiguous(name, found[0], whole + part, short)


def _with_few_marks(text: str) -> str:
    """ASCII digits, `.` and `,`, and `'` for what only separates thousands."""
    marked = ""
    for character in text.strip()[:LENGTH_MAX]:
        if character.isdecimal():
            marked += str(unicodedata.decimal(character))
        elif character in _APOSTROPHES or character.isspace():
            marked += _GROUP
        else:
            marked += _POINTS.get(character, character)
    return marked
