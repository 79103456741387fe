from collections.abc import Iterator
from typing import Any

import pytest

from tests import auditing
from tests.cast import Cast
from tests.sending.conftest import world as world  # the local test chain
from tests.taken_out import committed_cast


def pytest_itemcollected(item: pytest.Item) -> None:
    if "committed" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.django_db)


@pytest.fixture
def _django_db_helper(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """Tests of a `committed` cast run in no transaction of their own, and nothing is truncated:
    PostgreSQL would refuse it."""
    if "committed" not in request.fixturenames:
        request.getfixturevalue("_django_db_helper")
        yield
        return
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def committed(_django_db_helper: None) -> Iterator[Cast]:
    with committed_cast() as cast:
        yield cast


@pytest.fixture
def sound_books(committed: Cast) -> Iterator[None]:
    yield
    assert auditing.breaches() == []
