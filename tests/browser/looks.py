"""In which looks a page is seen: wide, on a phone, in the dark.

The suite takes one of each test's, the narrowest and of those the dark one: a page that fits a
phone fits elsewhere. Wide and light is what the tests without looks are in, the stories among them.
`TEST_LOOKS=all` takes all.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

IS_ALL = os.environ.get("TEST_LOOKS") == "all"
PHONE_WIDTH = 390
USUAL_WIDTH = 1280
NAMES = frozenset({"look", "width", "dark"})


def is_of_looks(parameters: Mapping[str, Any]) -> bool:
    """True if a test's parameters tell how a page looks, and nothing else: without a script it is
    another test.

    So it is where a look is options of the browser, one of which may switch a policy off.
    """
    return (
        bool(parameters)
        and parameters.keys() <= NAMES
        and not isinstance(parameters.get("look"), dict)
    )


def rank(parameters: Mapping[str, Any]) -> tuple[int, bool]:
    """The least is what the suite takes."""
    look = parameters.get("look")
    told = look if isinstance(look, dict) else {}
    name = look if isinstance(look, str) else ""
    usual = PHONE_WIDTH if "phone" in name else USUAL_WIDTH
    is_dark = parameters.get("dark", told.get("dark", "dark" in name))
    return parameters.get("width", told.get("width", usual)), not is_dark


def left_out(of_tests: Iterable[tuple[str, Mapping[str, Any], T]]) -> list[T]:
    """Of tests by name and parameters those that only all looks take."""
    taken: dict[str, tuple[tuple[int, bool], T]] = {}
    found = []
    for name, parameters, test in of_tests:
        if IS_ALL or not is_of_looks(parameters):
            continue
        mine = rank(parameters)
        best = taken.get(name)
        if best is None or mine < best[0]:
            taken[name] = (mine, test)
            found += [best[1]] if best is not None else []
        else:
            found.append(test)
    return found


def views(*every: tuple[int, bool]) -> list[tuple[int, bool]]:
    """Of widths, each light or dark, those that one test goes through now."""
    return list(every) if IS_ALL else [min(every, key=lambda one: (one[0], not one[1]))]


def seen(looks: Mapping[str, T]) -> dict[str, T]:
    """Of the looks that one test goes through, by name, those that are taken now."""
    if IS_ALL:
        return dict(looks)
    name = min(looks, key=lambda one: rank({"look": looks[one] or one}))
    return {name: looks[name]}
