"""The first day and night of a production installation: each unit of deploy/systemd does its work
with the role and the environment that it has there. That compose and the chart run the same with
the same is asked by tests/console (test_systemd, test_chart, test_audit_role)."""

import shutil
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from pytest_httpserver import HTTPServer

from apps.core import local_chain
from dev.anvil import anvil_program
from tests.night.production import PROCESSES, RATES, UNITS, Production
from tests.stack import mine, wait_for

pytestmark = [
    pytest.mark.chain,
    pytest.mark.direct,
    pytest.mark.skipif(anvil_program() is None, reason="no local chain on this machine"),
    pytest.mark.skipif(shutil.which("gpg") is None, reason="no GnuPG on this machine"),
]
JOBS = ("migrate", "audit", "backup")
START_SECONDS = 300.0  # ten processes begin at once


@pytest.fixture(scope="module")
def machine(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None
) -> Iterator[Production]:
    exchange = HTTPServer(host="127.0.0.1")
    exchange.expect_request("/Ticker").respond_with_json(RATES)
    exchange.start()
    try:
        with Production(tmp_path_factory.mktemp("night"), exchange.url_for("")) as production:
            yield production
    finally:
        exchange.stop()


def paid(machine: Production, keys: dict[str, str]) -> dict[str, Any]:
    """A live payment that a customer has paid on the chain."""
    order = {"payment_intent": {"amount": "10.00", "currency": "EUR"}}
    # As the guide has it: a 503 is asked again, until the first rates are there.
    answer = wait_for(
        lambda: machine.api("POST", "/api/v2/payments", keys["live"], order),
        lambda answer: answer.status_code != 503,
        START_SECONDS,
    )
    assert answer.status_code == 201, answer.text
    payment: dict[str, Any] = answer.json()
    (address,) = payment["payment_addresses"]
    sender = local_chain.call(machine.chain, "eth_accounts")[0]
    value = hex(int(address["crypto_amount_atomic"]))
    transfer = {"from": sender, "to": address["address"], "value": value}
    local_chain.call(machine.chain, "eth_sendTransaction", transfer)
    mine(machine.chain, 40)
    path = f"/api/v2/payments/{payment['id']}"
    return wait_for(
        lambda: machine.api("GET", path, keys["live"]).json(),
        lambda detail: detail["status"] == "completed",
        START_SECONDS,
    )


def answered(machine: Production, path: str, key: str) -> Any:
    """What is made by a worker first: 202 or 503 until it is there."""
    return wait_for(
        lambda: machine.api("GET", path, key),
        lambda answer: answer.status_code not in (202, 503),
        START_SECONDS,
    )


def heartbeats(machine: Production) -> set[str]:
    address = machine.variables("owner")["DATABASE_URL"]
    with psycopg.connect(address) as connection:
        return {part for (part,) in connection.execute("SELECT part FROM core_heartbeat")}


def test_every_unit_is_run_here() -> None:
    units = {path.stem.removeprefix("tillgate-") for path in UNITS.glob("*.service")}
    assert units == {*PROCESSES, *JOBS}


def test_the_first_day_and_night(machine: Production) -> None:
    as_worker = ("tillgate", "worker", "approvals")
    assert "grants: " in machine.run("migrate")
    store = machine.manage(
        "create_store",
        "--name",
        "Night",
        "--email",
        "owner@example.com",
        "--password",
        "a long enough password",
        "--json",
        files=as_worker,
    )
    keys = {mode: store["keys"][mode]["secret"] for mode in ("live", "test")}

    machine.start(*PROCESSES)
    wait_for(lambda: _is_ready(machine), bool, START_SECONDS)
    parts = {"jobs", "watcher", "signer"}
    wait_for(lambda: heartbeats(machine), parts.issubset, START_SECONDS)

    payment = paid(machine, keys)
    receipt = answered(machine, f"/api/v2/payments/{payment['id']}/invoice", keys["live"])
    assert (receipt.status_code, receipt.content[:5]) == (200, b"%PDF-")
    moved = machine.api("POST", "/api/v2/test_clock/advance", keys["test"], {"seconds": 86400})
    assert moved.status_code == 200, moved.text
    last = machine.api("GET", "/api/v2/reports", keys["live"]).json()["available_through"]
    query = f"?start_date={last}&end_date={last}"
    report = answered(machine, f"/api/v2/reports/merchant_statement{query}", keys["live"])
    assert report.status_code == 200, report.text
    refund = machine.api(
        "POST",
        f"/api/v2/payments/{payment['id']}/refunds",
        keys["live"],
        {"refund": {"amount": "0.0001"}},
        **{"Idempotency-Key": "night"},
    )
    assert refund.status_code == 201, refund.text
    queues = machine.celery("inspect", "ping")
    assert all(f"{queue}@night: OK" in queues for queue in QUEUES), queues

    machine.run("audit")
    machine.run("audit")
    assert _points(machine) == [(True, True), (False, True)]
    asked = machine.manage("verify_ledger", "--chain", files=as_worker)
    assert "movements_balance" in asked and "BROKEN" not in asked

    machine.run("backup")
    (backup,) = (machine.folder / "backups").iterdir()
    passphrase = str(machine.etc / "backup.passphrase")
    as_owner = ("tillgate", "owner")
    machine.manage(
        "backup", str(backup), "--verify", "--passphrase-file", passphrase, files=as_owner
    )
    restore = ("restore", str(backup), "--passphrase-file", passphrase)
    refusal = machine.refused(*restore, "--replace", machine.database, files=as_owner)
    for role in ("tillgate_web", "tillgate_worker", "tillgate_signer"):
        assert role in refusal
    machine.stop()
    machine.manage(*restore, "--replace", machine.database, files=as_owner)
    machine.run("audit")


QUEUES = ("celery", "test", "webhooks", "reports", "documents", "test_clocks")


def _is_ready(machine: Production) -> bool:
    try:
        return bool(machine.api("GET", "/readyz", "").ok)
    except OSError:
        return False


def _points(machine: Production) -> list[tuple[bool, bool]]:
    with psycopg.connect(machine.variables("owner")["DATABASE_URL"]) as connection:
        return connection.execute(
            "SELECT is_whole, is_with_chain FROM audit_verifiedpoint ORDER BY id"
        ).fetchall()
