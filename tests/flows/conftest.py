from collections.abc import Iterator

import pytest

from tests import auditing


@pytest.fixture(autouse=True)
def _books_are_right(db: None) -> Iterator[None]:
    """Every invariant of money holds at the end of each story."""
    yield
    assert auditing.breaches() == []
