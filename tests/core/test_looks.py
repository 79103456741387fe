"""Which looks of a page the suite takes, and that none is lost by the command that takes all."""

from typing import Any

import pytest

from tests.browser import looks

FOUR = [
    ("desktop", 1280, False),
    ("desktop-dark", 1280, True),
    ("phone", 390, False),
    ("phone-dark", 390, True),
]


def left_out(of_tests: list[dict[str, Any]]) -> list[int]:
    return sorted(
        looks.left_out(("test", of_test, number) for number, of_test in enumerate(of_tests))
    )


@pytest.mark.parametrize(
    ("of_tests", "kept"),
    [
        ([dict(zip(("look", "width", "dark"), item, strict=True)) for item in FOUR], 3),
        ([{"look": item} for item in ("wide", "phone", "dark", "huge")], 1),
        (
            [
                {"width": 390, "dark": False},
                {"width": 1280, "dark": True},
                {"width": 1920, "dark": False},
            ],
            0,
        ),
        ([{"width": 390, "dark": False}], 0),
    ],
)
def test_the_narrowest_is_taken_and_of_those_the_dark_one(
    of_tests: list[dict[str, Any]], kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, "IS_ALL", False)
    assert left_out(of_tests) == [number for number in range(len(of_tests)) if number != kept]
    monkeypatch.setattr(looks, "IS_ALL", True)
    assert left_out(of_tests) == []


@pytest.mark.parametrize(
    "of_tests",
    [
        [{"width": 390, "script": False}, {"width": 1280, "script": True}],
        [{"stage": "paid"}, {"stage": "failed"}],
        [{"look": {"bypass_csp": True}}, {"look": {}}],
        [{}, {}],
    ],
)
def test_what_differs_in_more_than_its_look_is_all_taken(
    of_tests: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, "IS_ALL", False)
    assert left_out(of_tests) == []


def test_tests_of_two_names_each_keep_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "IS_ALL", False)
    of_tests = [
        ("one", {"look": "phone"}, 1),
        ("two", {"look": "wide"}, 2),
        ("one", {"look": "wide"}, 3),
        ("two", {"look": "dark"}, 4),
    ]
    assert sorted(looks.left_out(of_tests)) == [2, 3]


def test_a_test_that_goes_through_its_looks_itself_takes_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every: dict[str, dict[str, Any]] = {"desk": {}, "dark": {"dark": True}, "phone": {"width": 390}}
    monkeypatch.setattr(looks, "IS_ALL", False)
    assert looks.seen(every) == {"phone": {"width": 390}}
    assert looks.views((1280, True), (390, False), (390, True)) == [(390, True)]
    monkeypatch.setattr(looks, "IS_ALL", True)
    assert looks.seen(every) == every
    assert looks.views((1280, True), (390, False)) == [(1280, True), (390, False)]
