"""A locale of ours answers as Babel's own, and keeps a part of what that keeps."""

import subprocess
import sys
import threading
from datetime import datetime

import pytest
from babel import Locale, core
from babel.dates import format_date, format_datetime, format_skeleton
from babel.numbers import (
    format_compact_currency,
    format_currency,
    format_decimal,
    format_percent,
    get_currency_name,
    get_currency_precision,
)
from django.conf import settings
from django.utils.translation import to_locale

from apps.core import regions
from apps.core.locales import locale_of
from dev import bootstrap

NAMES = sorted(
    {to_locale(code) for code, _ in settings.LANGUAGES}
    | {code.replace("-", "_") for code in regions.REGIONS}
    | {"ar_AE", "pt_PT"}
)
AT = datetime(2026, 11, 22, 15, 5)
# Every language, formatted: what a process holds when all customers of a day have been served.
HOLDS = """
import tracemalloc
import babel.dates, babel.numbers
from apps.core.locales import locale_of
tracemalloc.start()
for name in "en de fr es pt it nl pl tr ja zh_Hans ko ar en_US en_GB ar_AE".split():
    babel.numbers.format_currency("5", "EUR", locale=locale_of(name))
print(tracemalloc.get_traced_memory()[0])
"""
HELD_BYTES_MAX = 6_000_000  # Babel's own are 15


@pytest.mark.parametrize("name", NAMES)
def test_a_locale_writes_as_babels_own_does(name: str) -> None:
    ours = locale_of(name)
    theirs = Locale.parse(name)

    def shown(locale: Locale) -> list[object]:
        return [
            *(format_currency("1234567.5", code, locale=locale) for code in ("EUR", "JPY", "CHF")),
            format_compact_currency("25000", "USD", locale=locale, fraction_digits=1),
            format_decimal("1234567.891", locale=locale),
            format_percent("0.123", locale=locale),
            *(format_datetime(AT, width, locale=locale) for width in ("short", "medium", "full")),
            *(format_date(AT, width, locale) for width in ("short", "medium", "long")),
            *(format_skeleton(item, AT, locale=locale) for item in ("yMMMd", "MMMd", "MMMEd")),
            *(
                get_currency_name(code, count, locale=locale)
                for code in ("EUR",)
                for count in (1, 5)
            ),
            (locale.text_direction, locale.datetime_formats["medium"], locale.display_name),
        ]

    assert shown(ours) == shown(theirs)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("ar_AE", "en", "ja") else pytest.mark.whole)
        for name in NAMES
    ],
)
def test_what_is_left_out_is_read_when_it_is_asked_for(name: str) -> None:
    theirs = Locale.parse(name)
    for part in ("territories", "languages", "unit_patterns", "date_fields", "time_zones"):
        assert dict(locale_of(name)._data[part]) == dict(theirs._data[part]) != {}, part


def test_what_holds_for_all_languages_is_read_again_too() -> None:
    locale_of("en")
    assert get_currency_precision("JPY") == 0
    assert core.get_global("likely_subtags")["de"] == "de_Latn_DE"
    assert core.get_global("zone_territories")["Europe/Berlin"] == "DE"
    assert str(Locale.parse("zh_TW")) == "zh_Hant_TW"


def test_babel_has_its_data_while_a_part_that_was_left_out_is_read() -> None:
    """Other threads use it meanwhile."""
    locale_of("en")
    is_over = threading.Event()

    def ask() -> None:
        for _ in range(10):
            assert core.get_global("likely_subtags")["de"] == "de_Latn_DE"
        is_over.set()

    asking = threading.Thread(target=ask)
    asking.start()
    gaps = 0
    while not is_over.is_set():
        gaps += core._global_data is None
    asking.join()
    assert gaps == 0


def test_all_languages_together_are_a_few_megabytes() -> None:
    said = subprocess.run(
        [sys.executable, "-c", HOLDS],
        cwd=bootstrap.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(said.stdout) < HELD_BYTES_MAX
