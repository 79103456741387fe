"""Tests that the suite runs in short, and `TEST_WHOLE=1 python3 manage.py test` in full.

Marked `whole`: a test, or a row of one, that tells again what another one of the suite tells. A
promise that only it tells isn't marked.
"""

import os
from typing import TypeVar

import pytest

T = TypeVar("T")

IS_WHOLE = bool(os.environ.get("TEST_WHOLE"))


def left_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests that only the whole suite runs."""
    return [] if IS_WHOLE else [item for item in items if item.get_closest_marker("whole")]


def usually(*, short: T, whole: T) -> T:
    return whole if IS_WHOLE else short
