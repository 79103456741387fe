from collections.abc import Iterator
from typing import Any

import pytest

from tests.ledger.books import Books, committed_books, open_books


def pytest_itemcollected(item: pytest.Item) -> None:
    if "committed" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.django_db)


@pytest.fixture
def _django_db_helper(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """Tests of `committed` books run in no transaction of their own, and nothing is truncated:
    PostgreSQL would refuse it."""
    if "committed" not in request.fixturenames:
        request.getfixturevalue("_django_db_helper")
        yield
        return
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def books(db: None) -> Books:
    return open_books()


@pytest.fixture
def committed(_django_db_helper: None) -> Iterator[Books]:
    """Books whose rows other connections see."""
    yield from committed_books()
