"""One running Tillgate for the tests of a client."""

from collections.abc import Iterator

import pytest

from tests.stack import Demo


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    running = Demo()
    yield running
    running.stop()
