"""The server that we ship, as the image starts it, on the test database. What these tests make is
committed: each makes its own stores."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from apps.audit.grants import WEB
from dev.ports import free_port
from tests.bench.load import serving
from tests.cast import Cast, Shop, assemble
from tests.stack import ROOT
from tests.web.wire import Web


def shipped_command(port: int) -> list[str]:
    """The image's command, of its last stage, with an address of this machine."""
    found = re.findall(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    command: list[str] = json.loads(found[-1])
    command[0] = str(Path(sys.executable).parent / command[0])
    command[command.index("--host") + 1] = "127.0.0.1"
    command[command.index("--port") + 1] = str(port)
    at = command.index("config.web") + 1
    return [*command[:at], "--log-level", "warning", *command[at:]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.django_db(transaction=True))


@pytest.fixture
def _django_db_helper(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Instead of pytest-django's: the server must see the records, and the ledger refuses the
    truncation that would follow."""
    with django_db_blocker.unblock():
        yield


Start = Callable[[], AbstractContextManager[Web]]


@pytest.fixture(scope="session")
def web(django_db_setup: None, django_db_blocker: Any) -> Iterator[Web]:
    with django_db_blocker.unblock(), ExitStack() as running:
        connection.ensure_connection()
        port = free_port()
        # Through a pooler the settings of a role are those of its connections.
        role = WEB if settings.DATABASE_POOLER else ""
        command = shipped_command(port)
        # What it logs during a test is shown when that test fails.
        process = running.enter_context(serving(*command, port=port, role=role, log=2))
        yield Web(port, process.pid)


@pytest.fixture
def committed(db: None) -> Cast:
    return assemble()


@pytest.fixture
def shop(committed: Cast) -> Shop:
    return committed.bakery
