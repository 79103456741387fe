from collections.abc import Iterator

import pytest

from tests import auditing


@pytest.fixture(autouse=True)
def _books_are_right(db: None) -> Iterator[None]:
    """Whatever the story was, at its end everything holds that must always hold of money."""
    yield
    assert auditing.breaches() == []
