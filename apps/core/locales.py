"""What Babel knows of a language, without what pages never ask for.

Of each language Babel keeps the names of every other one, of territories, currencies and units: a
megabyte, where the form of dates, amounts and numbers is a quarter of that. What is left out here
is read again by whoever asks for it after all, so that a locale of ours answers as any other.
"""

import pickle
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from babel import Locale, localedata
from babel import core as _babel_core

_core: Any = _babel_core  # its type names the parts one by one

_SELDOM = frozenset(
    {
        "compound_unit_patterns",
        "currency_unit_patterns",
        "date_fields",
        "interval_formats",
        "languages",
        "list_patterns",
        "meta_zones",
        "scripts",
        "territories",
        "time_zones",
        "unit_display_names",
        "unit_patterns",
        "variants",
        "zone_formats",
    }
)
# Of what holds for all languages.
_OFTEN = frozenset({"currency_fractions", "parent_exceptions"})


@cache
def locale_of(name: str) -> Locale:
    """`de`, `zh_Hans`, `en_GB`. Raises UnknownLocaleError or ValueError."""
    locale: Any = Locale.parse(name)
    data = _Language(str(locale))
    locale._Locale__data = localedata.LocaleDataDict(data)
    # Parents (`en` of `en_GB`, and what all languages begin with) are read again for the next one.
    localedata._cache.clear()
    _core._global_data = _Common()
    result: Locale = locale
    return result


class _Language(dict[Any, Any]):
    """The data of one locale; a part that was left out is read when it is asked for."""

    def __init__(self, name: str) -> None:
        whole = localedata.load(name)
        super().__init__((part, value) for part, value in whole.items() if part not in _SELDOM)
        self._name = name

    def __missing__(self, part: str) -> Any:
        value = localedata.load(self._name)[part]
        localedata._cache.clear()
        return value


class _Common(Mapping[str, object]):
    """Babel's data for all languages, of which little is asked for once a locale has been found."""

    def __init__(self) -> None:
        self._often = {part: value for part, value in _common_data().items() if part in _OFTEN}

    def __getitem__(self, part: str) -> object:
        """A part that was left out is read again, and not kept."""
        if part in self._often:
            return self._often[part]
        return _common_data()[part]

    def __iter__(self) -> Iterator[str]:
        return iter(_common_data())

    def __len__(self) -> int:
        return len(_common_data())


def _common_data() -> dict[str, object]:
    """From Babel's own file rather than through Babel, which keeps what it has read in a variable
    that other threads are reading."""
    with (resources.files("babel") / "global.dat").open("rb") as file:
        data: dict[str, object] = pickle.load(file)  # noqa: S301 - the installed package
    return data
