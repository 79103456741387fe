"""Early pytest plugin: services are up before pytest-django reads the settings.

Each worker of a run with `-n` has services of its own, and the process that hands out the tests has
none. With TEST_POOLER every test reaches PostgreSQL through PgBouncer. Tests marked `chain`,
`browser`, `pooler` or `token` are skipped, counted and named at the end where the machine has none.
"""

import atexit
import os
import sys

import pytest

from apps.core import local_chain
from dev import bootstrap, embedded, pooler

# Of everybody together: what waits for another holds a connection meanwhile.
POOL_OF_ALL_TESTS = 40


def _pool_everything() -> None:
    from apps.audit.grants import ROLES

    server = pooler.Pooler(os.environ[embedded.POSTGRES], ROLES, pool=POOL_OF_ALL_TESTS)
    atexit.register(server.stop)
    os.environ.update(server.environment("tillgate"))


os.environ.setdefault("TILLGATE_ENV", "test")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
try:
    if embedded.test_worker() or not any(argument.startswith("-n") for argument in sys.argv):
        embedded.ensure(mode=embedded.TEST)
        if os.environ.get("TEST_POOLER"):
            _pool_everything()
except RuntimeError as error:
    pytest.exit(str(error), returncode=4)


def missing() -> dict[str, str]:
    """Marker -> what the machine lacks for the tests that carry it."""
    messages = {}
    if not os.environ.get(local_chain.ETHEREUM):
        messages["chain"] = "no local chain: npm brings anvil when it is there"
    if not bootstrap.chromium():
        messages["browser"] = "no browser: sudo apt-get install -y chromium-headless-shell"
    if not bootstrap.pgbouncer():
        messages["pooler"] = "no pooler: sudo apt-get install -y pgbouncer"
    if not bootstrap.softhsm():
        messages["token"] = "no token: sudo apt-get install -y softhsm2"  # a marker
    return messages


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("TEST_POOLER"):
        config.option.reuse_db = True  # it can't be dropped while the pooler is connected to it


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for marker, reason in missing().items():
        for item in items:
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    for reason in missing().values():
        count = sum(1 for report in skipped if reason in str(report.longrepr))
        if count:
            terminalreporter.write_line(f"!!! {count} tests were skipped: {reason}")
