import math
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.db import connection
from django.dispatch import receiver
from django.test.client import ClientHandler
from django.test.signals import setting_changed

from apps.access import request_log
from apps.assets.models import Chain
from apps.assets.rates import refresh
from apps.audit import grants
from apps.chain import selectors
from apps.chain.providers import jsonrpc
from apps.chain.rpc import batches
from apps.chain.sending import costs
from apps.core import acting
from apps.core.db import locks, tenancy
from apps.core.documents import process
from apps.core.redis import buckets
from apps.ledger import posting
from apps.stores.models import User
from dev import embedded, template_database
from tests import postgres, sharing, stage, whole
from tests.cast import Cast, Shop, assemble
from tests.stack import Demo
from tests.stacks import with_deep_stack

settings.PASSWORD_HASHERS = ["tests.hashers.QuickArgon2"]

_load_middleware = ClientHandler.load_middleware
_chain: dict[str, Any] = {}
# The settings that the running test has overridden.
_overridden: list[str] = []


@receiver(setting_changed)
def _note_overridden(*, setting: str, enter: bool, **_: object) -> None:
    if enter:
        _overridden.append(setting)
    elif setting in _overridden:
        _overridden.remove(setting)


def _load_once(handler: BaseHandler, is_async: bool = False) -> None:
    # A test with settings of its own has middleware of its own.
    if _overridden:
        _load_middleware(handler, is_async)
        return
    if not _chain:
        _load_middleware(handler, is_async)
        _chain.update(vars(handler))
    handler.__dict__.update(
        {
            name: value
            for name, value in _chain.items()
            if name.endswith("_middleware") or name == "_middleware_chain"
        }
    )


# A server loads its middleware once; each client of a test would load it anew: up to a thirteenth
# of the time of tests that have a client for every call. Django's client names no other place.
ClientHandler.load_middleware = _load_once  # type: ignore[method-assign, assignment]  # bound later


# What draws PDF takes most of a second to start, and the tests that draw are far apart.
process.KEPT_SECONDS = 60.0

# A busy machine may hold up Redis for half a second, after which requests pass uncounted.
buckets._TIMEOUT_SECONDS = 5.0


@pytest.fixture(scope="session", autouse=True)
def _requests_come_as_the_web() -> None:
    """Every request of every test may do in the database what the web process may, and nothing
    else."""
    from tests import roles

    roles.install()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Embedded servers bring a database in which every migration has run: the tests' own is its
    copy."""
    settings.DATABASES["default"]["TEST"] |= template_database.for_tests(
        embedded.var_folder(embedded.TEST) / "postgres"
    )


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: object) -> Iterator[None]:
    """Rates of the embedded provider are in the test database from the start, and no role makes
    tables in it: a copy has lost that."""
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        refresh()
        grants.close()
        _chains.extend(
            dict(row) for row in Chain.objects.values("id", "chain_id", "name", "explorer_url")
        )
        if User.objects.exists():
            _committed.append("a run before this one, whose database is used again")
    postgres.open_to_poolers()
    yield
    postgres.stop_pooler()


@pytest.fixture(scope="session", autouse=True)
def _somebody_reads_ethereum() -> None:
    """Live payments are offered on chains that a watcher has begun; tests of live mode run without
    one."""
    selectors._begun.update(("ethereum", "sepolia"))


@pytest.fixture(autouse=True)
def _full_buckets() -> Iterator[None]:
    """Each test meets full token buckets, no call of another one waits to be logged, and no turn of
    another one is kept."""
    yield
    request_log.forget()
    locks._keeper._held.clear()
    buckets._absence.until = -math.inf  # of an outage that another test has made
    # Memories of nodes: another test's node had the same name, or gets the same port.
    costs._prices.clear()
    jsonrpc._lacking.clear()
    batches._sizes.clear()
    buckets.client().flushdb()


@pytest.fixture(scope="module", autouse=True)
def _nothing_stays(request: pytest.FixtureRequest) -> Iterator[None]:
    """A module whose tests roll back leaves no person behind for the next one to find.

    It is asked until a test commits: those come after, and leave their rows because the ledger
    refuses to be emptied.
    """
    blocker = request.getfixturevalue(
        "django_db_blocker"
    )  # as an argument it would make every test count as one that commits
    yield
    stage.clear_cast()
    if connection.connection is None or _committed:
        return
    with blocker.unblock():
        assert not User.objects.exists(), f"{request.node.nodeid} leaves rows behind"


@pytest.fixture(scope="module", autouse=True)
def _chains_stay_what_they_are(request: pytest.FixtureRequest) -> Iterator[None]:
    """A watcher that a test starts tells the database that a chain is this machine's own."""
    blocker = request.getfixturevalue("django_db_blocker")
    yield
    if connection.connection is None or not _committed or not _chains:
        return
    with blocker.unblock():
        for row in _chains:
            Chain.objects.filter(id=row["id"]).exclude(**row).update(**row)


# Id, name and explorer of each chain, as the migrations say.
_chains: list[dict[str, Any]] = []
# The first test of this process that wrote what stays.
_committed: list[str] = []


@pytest.fixture(scope="session")
def demo() -> Iterator[Demo]:
    """One running Tillgate for the tests of clients, examples and the main job, which come one
    after the other; the last of them may end it."""
    running = Demo()
    yield running
    if running.is_running:
        running.stop()


@pytest.fixture
def _begun_cast(request: pytest.FixtureRequest) -> Cast | None:
    """The cast of a test that rolls back, made before its transaction begins, if it may be."""
    if any(request.node.get_closest_marker(name) for name in ("commits", "rolls_back")):
        return None
    request.getfixturevalue("django_db_setup")
    return stage.cast_of_module(request.getfixturevalue("django_db_blocker"))


@pytest.fixture
def cast(_begun_cast: Cast | None, db: None) -> Cast:
    return _begun_cast or assemble()


@pytest.fixture
def bakery(cast: Cast) -> Shop:
    return cast.bakery


@pytest.fixture(autouse=True)
def _nobody_acts() -> Iterator[None]:
    """The acting person and the rows shown to it are forgotten after each test."""
    with acting.acting(acting.Actor()), tenancy.within(tenancy.NOBODY):
        yield


def commits(item: pytest.Item) -> bool:
    """True if a test may write what others can see: no transaction of its is rolled back. Those
    without a database count too."""
    names = getattr(item, "fixturenames", ())
    if item.get_closest_marker("rolls_back"):
        return False
    if item.path.parent.name in postgres.COMMITTING or item.path.name == "test_kills.py":
        return True
    return "committed" in names or (
        "django_db_blocker" in names and "_django_db_helper" not in names
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    if isinstance(item, pytest.Function):
        item.obj = with_deep_stack(item.obj)
    if commits(item):
        item.add_marker("commits")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    # What a test before this one committed may be gone, or in another database.
    posting._known.clear()
    if "cast" not in getattr(item, "fixturenames", ()):
        stage.clear_cast()
    postgres.begin(item)
    if not _committed and commits(item):
        _committed.append(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report: Any = yield
    if report.failed and postgres.is_pooled(item):
        told = "reached through PgBouncer; TEST_POOLER=0 reaches it directly"
        report.sections.append(("PostgreSQL", told))
    return report


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> sharing.FileByFile | None:
    return sharing.FileByFile(config, log) if config.getoption("dist") == "load" else None


SLOW_FIRST = (Path(__file__).parent / "slow_first.txt").read_text().splitlines()
PLACES = {name: number for number, name in enumerate(SLOW_FIRST)}
# A share comes where the slowest of its files does.
PLACES_OF_SHARES = {sharing.name_of(name): number for name, number in reversed(PLACES.items())}


def place_of(item: pytest.Item) -> tuple[int, int]:
    last = len(PLACES)
    file = item.nodeid.partition("::")[0]
    return PLACES_OF_SHARES.get(sharing.name_of(item.nodeid), last), PLACES.get(file, last)


def _draw_no_constants() -> None:
    """Hypothesis reads all our sources in each process, for constants to draw: seconds, and the
    examples of a test would be others whenever somebody changes a constant somewhere."""
    providers: Any = sys.modules.get("hypothesis.internal.conjecture.providers")
    if providers is not None:
        providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Order of the tests: those that roll back, those that commit, those that share a running demo,
    browser tests: Playwright keeps an event loop running in their thread.

    In each of the four the slowest files come first, so that no worker is left with one at the end.
    Of those that share the demo, who doesn't need it comes before it starts.
    """
    _draw_no_constants()
    yield
    postgres.refuse_single(items)
    if left_out := set(whole.left_out(items)):
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]

    def order(item: pytest.Item) -> tuple[bool, bool, bool, bool, tuple[int, int]]:
        has_demo = sharing.has_demo(item.nodeid)
        is_browser = item.get_closest_marker("browser") is not None
        return (
            is_browser or has_demo,
            is_browser and not has_demo,
            # Its workers ask for work from its start to its end.
            has_demo and "demo" in getattr(item, "fixturenames", ()),
            is_browser or (commits(item) and not has_demo),
            place_of(item),
        )

    items.sort(key=order)
