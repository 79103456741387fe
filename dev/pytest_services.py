"""Early pytest plugin: services are up before pytest-django reads the settings.

Each worker of a run with `-n` has services of its own, and the process that hands out the tests has
none. Tests with a marker of `missing` are skipped, counted and named at the end where the machine
has none.
"""

import os
import sys

import pytest

from apps.core import local_chain
from dev import embedded, machine

os.environ.setdefault("TILLGATE_ENV", "test")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
try:
    if embedded.test_worker() or not embedded.has_workers(sys.argv):
        embedded.ensure(mode=embedded.TEST)
except RuntimeError as error:
    pytest.exit(str(error), returncode=4)


def missing() -> dict[str, str]:
    """Marker -> what the machine lacks for the tests that carry it."""
    messages = {}
    if not os.environ.get(local_chain.ETHEREUM):
        messages["chain"] = "no local chain: npm brings anvil when it is there"
    if not machine.chromium():
        messages["browser"] = "no browser: sudo apt-get install -y chromium-headless-shell"
    if not machine.pgbouncer():
        messages["pooler"] = "no pooler: sudo apt-get install -y pgbouncer"
    if not machine.nginx():
        messages["router"] = "no router: sudo apt-get install -y nginx-light"
    if not machine.litecoind():
        messages["litecoin"] = "no Litecoin: sudo apt-get install -y litecoind"
    if not machine.postgres_with_fdw():
        messages["federated"] = "no postgres_fdw: sudo apt-get install -y postgresql"
    if not machine.softhsm():
        messages["token"] = "no token: sudo apt-get install -y softhsm2"  # a marker
    return messages


def pytest_unconfigure() -> None:
    """Services end with the run. Until its exit the interpreter waits for threads, and a worker for
    which its run waits too long is killed."""
    embedded.leave_all()


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
