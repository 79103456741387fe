"""Fixtures that the tests of the command line share."""

from collections.abc import Iterator

import pytest

from tests.clients.commands import Commands


@pytest.fixture
def commands() -> Iterator[Commands]:
    running = Commands()
    yield running
    running.end()
