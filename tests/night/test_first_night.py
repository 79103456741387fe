"""The first day and night of a production installation: whatever systemd, compose and the chart run
does its work with the role, the files and the environment that it has there, and its probes say so.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pytest_httpserver import HTTPServer

from dev import charts
from dev.anvil import anvil_program
from tests.night import chart, compose, day, systemd
from tests.night.chart import Chart
from tests.night.compose import Compose
from tests.night.machine import RATES, Grounds, Machine
from tests.night.systemd import Systemd
from tests.whole import IS_WHOLE

pytestmark = [
    pytest.mark.chain,
    pytest.mark.direct,
    pytest.mark.skipif(anvil_program() is None, reason="no local chain on this machine"),
    pytest.mark.skipif(shutil.which("gpg") is None, reason="no GnuPG on this machine"),
]
STAFF = "staff@example.com"
PASSWORD = "a long enough password"


@dataclass
class Installation:
    """The first machine with a store and somebody of the staff, before anything runs; `begun` is a
    copy of its database at that time, for the others."""

    machine: Systemd
    grounds: Grounds
    begun: str
    keys: day.Keys


@pytest.fixture(scope="module")
def installation(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None
) -> Iterator[Installation]:
    exchange = HTTPServer(host="127.0.0.1")
    exchange.expect_request("/Ticker").respond_with_json(RATES)
    exchange.start()
    try:
        with Grounds(exchange.url_for("")).ready() as grounds:
            folder = tmp_path_factory.mktemp("systemd")
            with Systemd(folder, grounds, grounds.database()) as machine:
                assert "grants: " in machine.run("migrate")
                store = json.loads(
                    machine.manage(
                        "create_store --name Night --email owner@example.com"
                        f" --password '{PASSWORD}' --json"
                    )
                )
                keys = {mode: store["keys"][mode]["secret"] for mode in ("live", "test")}
                machine.manage(f"staff set {STAFF} --password '{PASSWORD}' --roles admin,finance")
                begun = grounds.database(like=machine.database)
                yield Installation(machine, grounds, begun, keys)
    finally:
        exchange.stop()


def points(machine: Machine) -> list[tuple[bool, bool]]:
    rows = machine.rows("SELECT is_whole, is_with_chain FROM audit_verifiedpoint ORDER BY id")
    return [(bool(is_whole), bool(is_with_chain)) for is_whole, is_with_chain in rows]


# --- systemd


def test_every_unit_is_run_here() -> None:
    units = {path.stem.removeprefix("tillgate-") for path in systemd.UNITS.glob("*.service")}
    assert units == {*day.PROCESSES, *systemd.JOBS}


def test_a_day_and_a_night_of_units(installation: Installation) -> None:
    machine = installation.machine
    day.begin(machine)
    day.be_used(machine, installation.keys, STAFF)
    day.look(machine)

    machine.run("audit")
    machine.run("audit")
    assert points(machine) == [(True, True), (False, True)]
    asked = machine.manage("verify_ledger --chain")
    assert "movements_balance" in asked and "BROKEN" not in asked

    machine.run("backup")
    (backup,) = (machine.folder / "backups").iterdir()
    passphrase = f"--passphrase-file {machine.etc}/backup.passphrase"
    as_owner = ("tillgate", "owner")
    machine.told(f"backup {backup} --verify {passphrase}", *as_owner)
    restore = f"restore {backup} {passphrase} --replace {machine.database}"
    refusal = machine.refused(restore, *as_owner)
    for role in ("tillgate_web", "tillgate_worker", "tillgate_watcher", "tillgate_signer"):
        assert role in refusal
    machine.stop()
    machine.told(restore, *as_owner)
    machine.run("audit")


# --- containers


def shut(machine: Machine) -> None:
    """Privileges that a copy of a migrated database lacks, and more than an upgrade has to mend."""
    machine.rows("REVOKE SELECT ON stores_store FROM tillgate_web")


def opened(machine: Machine) -> tuple[object, ...]:
    (row,) = machine.rows(
        "SELECT has_table_privilege('tillgate_web', 'stores_store', 'SELECT'),"
        " has_database_privilege('tillgate_web', current_database(), 'TEMPORARY')"
    )
    return row


def spent_a_night(machine: "Compose | Chart", backup: str) -> None:
    """The nightly jobs: a whole point with the chain, and a backup that its passphrase opens."""
    machine.run("audit")
    assert points(machine) == [(True, True)]
    machine.run("backup", backup)
    (made,) = (machine.folder / "volumes/backups").iterdir()
    verify = f"python manage.py backup backups/{made.name} --verify"
    machine.run("backup", f"{verify} --passphrase-file /run/secrets/backup_passphrase")


BACKUP = (
    "python manage.py backup backups --passphrase-file /run/secrets/backup_passphrase --keep 14"
)


def test_every_service_of_compose_is_run_here() -> None:
    run = {*day.PROCESSES, *compose.JOBS, *compose.SERVERS}
    assert set(compose.services()) == run | compose.OUTSIDE
    guide = (systemd.ROOT / "docs/operators.md").read_text()
    assert f"docker compose run --rm backup {BACKUP}\n" in guide


def test_a_day_and_a_night_of_compose(
    installation: Installation, tmp_path_factory: pytest.TempPathFactory
) -> None:
    grounds = installation.grounds
    database = grounds.database(like=installation.begun)
    with Compose(tmp_path_factory.mktemp("compose"), grounds, database) as machine:
        shut(machine)
        assert opened(machine) == (False, True)
        machine.run("migrate")
        assert opened(machine) == (True, False)
        day.begin(machine)
        assert {"web", "beat", "watcher", "signer", "redis"} <= set(machine.checked())
        for name in machine.checked():
            machine.health(name).run()
        day.be_used(machine, installation.keys, STAFF)
        day.look(machine)
        spent_a_night(machine, BACKUP)


@pytest.mark.skipif(not charts.is_installed(), reason="no Helm: `manage.py test` brings it")
def test_a_day_and_a_night_of_the_chart(
    installation: Installation, tmp_path_factory: pytest.TempPathFactory
) -> None:
    grounds = installation.grounds
    database = grounds.database(like=installation.begun)
    with Chart(tmp_path_factory.mktemp("chart"), grounds, database) as machine:
        assert set(machine.pods()) == {*day.PROCESSES, *chart.JOBS, "pooler"}
        shut(machine)
        machine.run("migrate")
        assert opened(machine) == (True, False)
        day.begin(machine)
        assert {"web", "beat", "watcher", "signer"} <= {name for name, _ in machine.probes()}
        for name, kind in machine.probes():
            assert machine.passes(name, kind), (name, kind)
        if IS_WHOLE:  # else compose tells it, with the same image and the same Secrets
            day.be_used(machine, installation.keys, STAFF)
        day.look(machine)
        spent_a_night(machine, "")
