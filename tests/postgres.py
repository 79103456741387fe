"""How tests reach PostgreSQL: of the files that commit every second one through PgBouncer in
transaction mode, with all of tests/web, and all others directly.

What a file is called decides, so it is the same in every run, whichever tests run beside it.
TEST_POOLER=1 sends every file through PgBouncer, TEST_POOLER=0 none. Files marked `direct` never
come through it.
"""

import atexit
import os
import re
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections

from apps.audit.grants import ROLES
from config import databases
from config.reader import Reader
from dev import machine
from dev.embedded import POSTGRES
from dev.pooler import Pooler
from tests import roles

DIRECT = "DATABASE_DIRECT_URL"
ROOT = Path(__file__).resolve().parent.parent
# Folders in which every test commits, and the fixtures of those that do elsewhere.
COMMITTING = ("sending", "faults", "web")
_COMMITS = re.compile(r"\b(committed|django_db_blocker)\b")
# Of everybody together: what waits for another holds a connection meanwhile.
POOL = 40


@dataclass
class _Way:
    is_wanted_pooled: bool = False
    is_made: bool = False  # it is made, and dropped, directly


_way = _Way()
# What is put back when a file is reached directly again.
_direct: dict[str, Any] = {}
_poolers: list[Pooler] = []


def environment(database: str = "") -> dict[str, str]:
    """Addresses in the environment of a process of ours: of the test's database, or of another
    one."""
    path = f"/{database or connection.settings_dict['NAME']}"
    return {
        name: urlsplit(os.environ[name])._replace(path=path).geturl()
        for name in (POSTGRES, DIRECT)
        if name in os.environ
    }


def direct_url(database: str = "") -> str:
    """PostgreSQL itself, whichever way the test's file has."""
    addresses = environment(database)
    return addresses.get(DIRECT, addresses[POSTGRES])


def is_pooled(item: pytest.Item) -> bool:
    """True if the tests of this one's file come in through the pooler."""
    wish = os.environ.get("TEST_POOLER", "")
    if wish == "0" or is_direct(item) or not _is_possible():
        return False
    return wish == "1" or is_chosen(item.path)


@cache
def is_chosen(path: Path) -> bool:
    """True if the pooler serves: a test that rolls back is one transaction, which one connection
    has behind a pooler, too. The files of tests/web share a server, which comes in one way: as
    compose has it."""
    name = path.relative_to(ROOT).as_posix()
    is_in_half = path.parent.name == "web" or zlib.crc32(name.encode()) % 2 == 0
    return commits(path) and is_in_half


def commits(path: Path) -> bool:
    return path.parent.name in COMMITTING or bool(_COMMITS.search(path.read_text()))


def is_direct(item: pytest.Item) -> bool:
    module = item.getparent(pytest.Module)
    return module is not None and module.get_closest_marker("direct") is not None


def _is_possible() -> bool:
    """Before an embedded server, which trusts everybody on this machine."""
    url = urlsplit(os.environ.get(DIRECT) or os.environ[POSTGRES])
    return bool(machine.pgbouncer()) and bool(parse_qs(url.query).get("host"))


def refuse_single(items: list[pytest.Item]) -> None:
    """A test isn't direct on its own: what its module's fixtures hold open, one connection has."""
    for item in items:
        if item.get_closest_marker("direct") and not is_direct(item):
            raise pytest.UsageError(f"{item.nodeid}: a whole file is marked direct, or nothing")


def begin(item: pytest.Item) -> None:
    """The next test is this one; the database may not be there yet."""
    _way.is_wanted_pooled = is_pooled(item)
    _go()


def open_to_poolers() -> None:
    """The database is there."""
    _way.is_made = True
    _go()


def stop_pooler() -> None:
    """And the connections that it keeps: a database that has some can't be dropped."""
    _way.is_made = False
    _go()
    while _poolers:
        _poolers.pop().stop()


def _go() -> None:
    """From here on this process connects as it should, and so do those that it starts."""
    is_pooled = _way.is_made and _way.is_wanted_pooled
    if is_pooled == bool(_direct):
        return
    roles.forget()
    connections.close_all()
    if is_pooled:
        _enter()
    else:
        _leave()


def _enter() -> None:
    url = os.environ[POSTGRES]
    if not _poolers:
        _poolers.append(Pooler(url, ROLES, pool=POOL))
        atexit.register(stop_pooler)
    told = {**_poolers[0].environment(urlsplit(url).path.strip("/")), DIRECT: url}
    config = Reader().db_url_config(told[POSTGRES])
    del config["NAME"]
    is_prepared = told["DATABASE_PREPARED_STATEMENTS"] == "true"
    config = databases.database(config, is_pooled=True, is_prepared=is_prepared)
    own = connections.settings[DEFAULT_DB_ALIAS]
    _direct["environment"] = {name: os.environ.get(name) for name in told}
    _direct["config"] = {name: own.get(name) for name in config}
    os.environ.update(told)
    own.update(config)
    settings.DATABASE_POOLER = True


def _leave() -> None:
    for name, value in _direct["environment"].items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    connections.settings[DEFAULT_DB_ALIAS].update(_direct["config"])
    settings.DATABASE_POOLER = False
    _direct.clear()
