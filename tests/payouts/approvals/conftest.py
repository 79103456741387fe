"""A store in which two people agree to large payouts."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cast import assemble
from tests.payouts.two_people import Two, two_people
from tests.stage import standing


@pytest.fixture(scope="module")
def both(django_db_setup: None, django_db_blocker: Any) -> Iterator[Two]:
    yield from standing(django_db_blocker, lambda: two_people(assemble()))


@pytest.fixture
def two(both: Two, db: None) -> Two:
    return both.again()
