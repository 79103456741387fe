"""Countries that people write in their language are known by their code."""

import json
import os
import subprocess
import sys

import pytest
from babel import Locale
from django.utils import translation

from apps.core.text.countries import NAMES, countries, country_code, country_name
from dev import bootstrap

# No countries, though the list of territories has them.
NOT_COUNTRIES = frozenset(
    {"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "XK", "ZZ"}
)
LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "da", "nb", "sv", "pt", "pl")


def test_the_names_are_those_of_babel() -> None:
    """`WRITE_COUNTRIES=1` writes them anew."""
    owners: dict[str, str] = {}
    for language in LANGUAGES:
        for code, name in Locale(language).territories.items():
            if len(code) == 2 and code.isalpha() and code not in NOT_COUNTRIES:
                owners.setdefault(str(name).upper(), code)
    names: dict[str, list[str]] = {code: [] for code in sorted(owners.values())}
    for name, code in owners.items():
        names[code].append(name)
    if os.environ.get("WRITE_COUNTRIES"):
        lines = (
            f"{json.dumps(code)}: {json.dumps(several, ensure_ascii=False)}"
            for code, several in names.items()
        )
        NAMES.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    assert json.loads(NAMES.read_text("utf-8")) == names


@pytest.mark.parametrize("written", ["Germany", "deutschland", " DE ", "Allemagne", "Tyskland"])
def test_a_country_is_known_in_any_of_the_languages(written: str) -> None:
    assert country_code(written) == "DE"


def test_what_is_no_country_has_no_code_and_stays_as_it_is() -> None:
    assert [country_code(item) for item in ("EU", "Atlantis", "", None)] == [None] * 4
    assert [country_name(item) for item in ("DE", "de", "Atlantis")] == [
        "Germany",
        "de",
        "Atlantis",
    ]


def test_a_form_offers_countries_by_their_names() -> None:
    names = [name for _, name in countries()]
    assert len(set(names)) == len(names)
    # An accent doesn't put a country behind Zimbabwe.
    assert (
        names.index("Åland Islands")
        < names.index("Albania")
        < names.index("Zimbabwe")
        == len(names) - 1
    )
    with translation.override("de"):
        assert {("DE", "Deutschland"), ("AT", "Österreich")} <= set(countries())
        assert [code for code, _ in countries()].index("AT") < [
            code for code, _ in countries()
        ].index("PK")
    assert {("DE", "Germany"), ("XK", "Kosovo")} <= set(countries())
    assert not {code for code, _ in countries()} & {"EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"}


def test_asking_for_a_country_keeps_no_language_but_english() -> None:
    asks = (
        "from babel import localedata; from apps.core.text.countries import *;"
        " country_code('Tyskland'); country_name('DE')"
    )
    asks += "; print(*localedata._cache)"
    said = subprocess.run(
        [sys.executable, "-c", asks], cwd=bootstrap.ROOT, capture_output=True, text=True, check=True
    )
    assert set(said.stdout.split()) <= {"root", "en", "en_US"}
