"""One running Tillgate for the tests of all clients and
examples, which come one after the other."""

from collections.abc import Iterator

import pytest

from tests.stack import Demo


@pytest.fixture(scope="package")
def demo() -> Iterator[Demo]:
    running = Demo()
    yield running
    running.stop()
