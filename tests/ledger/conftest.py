from collections.abc import Iterator
from typing import Any

import pytest

from tests.ledger.books import Books, committed_books, open_books

HOME = ""
SHARD = "01"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Books are kept alike on a server of its own and on one of several: the worked examples say so
    in each run, every test in the whole suite."""
    is_short = metafunc.module.__name__.endswith("test_worked_examples")
    marks = () if is_short else (pytest.mark.whole,)
    servers = [HOME, pytest.param(SHARD, marks=marks)]
    metafunc.parametrize("shard", servers, indirect=True, ids=["home", "shard"])


@pytest.fixture(autouse=True)
def shard(request: pytest.FixtureRequest, settings: Any) -> str:
    """The shard that the server's IDs name."""
    settings.SHARD = request.param
    return str(request.param)


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
