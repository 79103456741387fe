"""One world of everything for all that is asked of it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.access.matrix.world import World, one_of_everything
from tests.stage import standing


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    yield from standing(django_db_blocker, one_of_everything)


@pytest.fixture
def world(made: World, db: None) -> World:
    return made
