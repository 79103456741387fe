from collections.abc import Iterator
from typing import Any

import pytest

from tests.cast import Cast, assemble


@pytest.fixture
def _django_db_helper(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """Tests with a `committed` cast run in no transaction of their own, and nothing is truncated:
    PostgreSQL would refuse it."""
    if "committed" not in request.fixturenames:
        request.getfixturevalue("_django_db_helper")
        yield
        return
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def committed(_django_db_helper: None) -> Cast:
    """A cast whose rows other connections see; each test makes its own."""
    return assemble()


def pytest_itemcollected(item: pytest.Item) -> None:
    if "committed" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.django_db)
