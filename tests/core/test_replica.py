"""Reads that may be behind, on a real streaming replica: whose rows they are shown, and what
happens while it is late or away."""

import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, close_old_connections, connection, connections, transaction
from prometheus_client import REGISTRY
from pytest_django.plugin import DjangoDbBlocker
from structlog.testing import capture_logs

from apps.audit.grants import WEB
from apps.core.clock import real_now
from apps.core.db import replica, tenancy
from apps.core.db.outage import is_outage
from apps.core.db.postgresql.base import DatabaseWrapper
from apps.core.db.replica import reads_may_lag
from apps.core.db.snapshot import CONNECTIONS, one_snapshot
from apps.core.db.streams import rows_of
from apps.payments.models import Payment
from apps.stores.models import Store
from config import databases
from config.reader import Reader
from dev.ports import free_port
from tests import make, postgres
from tests.cast import Cast, assemble
from tests.dashboard.browse import Browser
from tests.platforms.conftest import platform_of
from tests.replicas import OWNER, StreamingReplica
from tests.stack import ROOT, wait_for
from tests.staff.test_roles import signed_in

pytestmark = pytest.mark.direct  # a replica is reached directly


class Pair:
    """The tests' own server, and a replica of it that streams."""

    def __init__(self) -> None:
        self.name = str(connection.settings_dict["NAME"])
        self.primary = postgres.direct_url()
        self.replica = StreamingReplica(self.primary)
        self.come_in_as(WEB)

    def come_in_as(self, role: str) -> None:
        """At the replica; at the primary the tests' requests are the web's (tests/roles.py)."""
        if replica.is_configured():
            connections[replica.REPLICA].close()
            del connections[replica.REPLICA]
        server = {"HOST": str(self.replica.folder), "PORT": self.replica.port}
        config = databases.replica({"NAME": self.name, "USER": role, **server})
        connections.settings[replica.REPLICA] = {**connections.settings["default"], **config}

    def catch_up(self) -> None:
        self.replica.catch_up(self.primary)
        replica._judgment = replica._Judgment()

    def close(self) -> None:
        connections[replica.REPLICA].close()
        del connections[replica.REPLICA]
        del connections.settings[replica.REPLICA]
        self.replica.remove()


@pytest.fixture(scope="module")
def pair(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Pair]:
    with django_db_blocker.unblock():
        found = Pair()
        yield found
        found.close()


@pytest.fixture(scope="module")
def cast(pair: Pair) -> Cast:
    """Committed: a replica sees nothing else."""
    found = assemble()
    make.payment(found.bakery.test)
    make.payment(found.strangers.test)
    return found


@pytest.fixture(autouse=True)
def _caught_up(pair: Pair, cast: Cast) -> Iterator[None]:
    pair.catch_up()
    yield
    pair.replica.resume()


def answers() -> dict[tuple[str, str], int]:
    """How many reads each server has answered, and why."""
    return {
        (sample.labels["server"], sample.labels["reason"]): int(sample.value)
        for metric in REGISTRY.collect()
        for sample in metric.samples
        if sample.name == "tillgate_replica_reads_total"
    }


@pytest.fixture
def answered() -> Any:
    """Statements that have been answered since the test began."""
    before = answers()

    def since() -> dict[tuple[str, str], int]:
        counts = {key: count - before.get(key, 0) for key, count in answers().items()}
        return {key: count for key, count in counts.items() if count}

    return since


@reads_may_lag("a test")
def is_standby() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery()")
        return bool(cursor.fetchone()[0])


@reads_may_lag("a test")
def stores_of_payments() -> set[Any]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery(), current_user")
        assert cursor.fetchone() == (True, WEB)
    return set(Payment.objects.values_list("store_id", flat=True))


REPLICA_ONLY = {("replica", ""): 1}


def test_a_snapshot_of_the_replica_is_read_by_several_of_its_connections(pair: Pair) -> None:
    together = threading.Barrier(CONNECTIONS)

    def ask(number: int) -> tuple[bool, int]:
        together.wait(60)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_is_in_recovery(), pg_backend_pid()")
            standby, process = cursor.fetchone()
        return standby, process

    @reads_may_lag("a test")
    def read() -> set[tuple[bool, int]]:
        with one_snapshot() as snapshot:
            return set(snapshot.answers(ask, range(CONNECTIONS)))

    found = read()
    assert {standby for standby, _ in found} == {True} and len(found) == CONNECTIONS


# --- whose rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_pooled", [False, True])
def test_the_replica_shows_a_store_its_own_rows_alone(
    cast: Cast, is_pooled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when connections to the primary are shared, and telling is a matter of a transaction."""
    monkeypatch.setattr(settings, "DATABASE_POOLER", is_pooled)
    connections[replica.REPLICA].close()
    assert stores_of_payments() == set()
    for shop in (cast.bakery, cast.strangers, cast.bakery):
        with tenancy.within(tenancy.of([shop.store], ["test"])):
            assert stores_of_payments() == {shop.store.pk}
        with tenancy.within(tenancy.of([shop.store], ["live"])):
            assert stores_of_payments() == set()
    assert stores_of_payments() == set()


def test_an_export_has_the_rows_of_its_store_from_the_replica(
    cast: Cast, pair: Pair, answered: Any
) -> None:
    own, other = (make.payment(shop.test) for shop in (cast.bakery, cast.strangers))
    browser = Browser(cast.alice)
    pair.catch_up()
    text = b"".join(browser.get("payments.csv").streaming_content).decode()
    assert own["reference"] in text
    assert other["reference"] not in text
    assert answered() == REPLICA_ONLY


def test_summaries_overviews_staff_lists_and_figures_come_from_the_replica(
    cast: Cast, pair: Pair, answered: Any
) -> None:
    clerk = signed_in(make.clerk("finance"))
    platform = platform_of(cast.bakery)
    pair.catch_up()
    assert cast.bakery.test.get("/payments/summary").json()["totals"]["order_count"] >= 1
    assert platform.test.get("/platform/overview").status_code == 200
    assert "Alice" in clerk.get("/admin/stores/store/").content.decode()
    headers = {"Authorization": f"Bearer {settings.METRICS_TOKEN}"}
    figures = Browser().client.get("/metrics", headers=headers).content.decode()
    assert "tillgate_replica_up 1.0" in figures
    assert "tillgate_replica_lag_seconds" in figures
    assert 'tillgate_review{what="payout"}' in figures
    assert answered() == {("replica", ""): 4}


def test_the_ledger_is_verified_on_the_replica(
    pair: Pair, answered: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    pair.come_in_as(OWNER)
    try:
        call_command("verify_ledger")
    finally:
        pair.come_in_as(WEB)
    assert "BROKEN" not in capsys.readouterr().out
    assert answered() == REPLICA_ONLY


# --- what never comes from it ---------------------------------------------------------------------


def test_within_a_transaction_its_own_writes_are_seen(answered: Any) -> None:
    with transaction.atomic():
        assert not is_standby()
    assert is_standby()
    assert answered() == REPLICA_ONLY


def test_a_write_is_refused_there_and_made_on_the_primary(cast: Cast, answered: Any) -> None:
    @reads_may_lag("a test")
    def rename() -> int:
        return Store.objects.filter(pk=cast.bakery.store.pk).update(name="Alice's Bakery")

    assert rename() == 1
    assert answered() == {("primary", "write"): 1}


def test_other_errors_are_told_as_they_are(answered: Any) -> None:
    @reads_may_lag("a test")
    def fail() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1/0")

    with pytest.raises(Exception, match="division by zero"):
        fail()
    assert answered() == {}
    assert is_standby()


# --- late and away --------------------------------------------------------------------------------


def test_a_late_replica_is_not_asked_until_it_has_caught_up(
    cast: Cast, pair: Pair, answered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "DATABASE_REPLICA_LAG_SECONDS", 3600)
    pair.replica.pause()
    make.payment(cast.bakery.test)
    assert is_standby()  # it is behind, and may be
    wait_for(lambda: replica.position().lag_seconds, lambda lag: lag > 0.001)
    monkeypatch.setattr(settings, "DATABASE_REPLICA_LAG_SECONDS", 0.001)
    with capture_logs() as lines:
        assert [asked_again() for _ in range(3)] == [False] * 3
        pair.replica.resume()
        wait_for(asked_again, lambda is_answered_there: is_answered_there)
    assert [line["event"] for line in lines] == ["replica_not_asked", "replica_asked_again"]
    assert lines[0]["reason"] == "late"
    assert answered()["replica", ""] == 2
    assert answered()["primary", "late"] >= 3


def test_what_is_to_be_whole_is_read_from_the_primary_until_it_is_settled(
    cast: Cast, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "DATABASE_REPLICA_LAG_SECONDS", 3600)

    def payments(until: datetime | None) -> int:
        with tenancy.everyone("the tests"):
            ((count,),) = rows_of("SELECT count(*) FROM payments_payment", {}, until)
        return int(count)

    before = payments(None)
    pair.replica.pause()
    make.payment(cast.bakery.test)
    now = real_now()
    assert payments(None) == before
    assert payments(now - timedelta(minutes=10)) == before
    assert payments(now) == before + 1
    assert payments(now + timedelta(days=1)) == before + 1
    assert payments(None) == before
    pair.replica.resume()


def test_a_replica_that_is_killed_is_an_answer_of_the_primary(
    pair: Pair, answered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "AWAY_SECONDS", 3600.0)
    monkeypatch.setattr(replica, "JUDGED_SECONDS", 3600.0)
    assert is_standby()
    pair.replica.stop()
    with capture_logs() as lines:
        assert not is_standby()  # it was there a moment ago
        assert not is_standby()
        assert not asked_again()
    assert [(line["event"], line["reason"]) for line in lines] == [("replica_not_asked", "away")]
    pair.replica.start()
    assert not is_standby()  # left alone for a while
    assert asked_again()
    assert answered() == {("replica", ""): 2, ("primary", "away"): 4}


def test_one_that_was_promoted_is_not_asked(answered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have gone a way of its own."""
    own = connections.settings["default"]
    monkeypatch.setitem(connections.settings, replica.REPLICA, own)
    connections[replica.REPLICA].close()
    del connections[replica.REPLICA]
    assert not is_standby()
    connections[replica.REPLICA].close()
    del connections[replica.REPLICA]
    assert answered() == {("primary", "away"): 1}


def asked_again() -> bool:
    """As if what was found out was long ago."""
    replica._judgment.until = 0
    return is_standby()


# --- which reads ----------------------------------------------------------------------------------


def test_every_read_that_may_be_behind_says_why() -> None:
    """A new one is added here, after somebody has asked what it follows."""
    for path in ROOT.glob("apps/**/*.py"):
        if "@reads_may_lag(" in path.read_text():
            import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    uses = {name for name in replica.USES if not name.startswith("tests.")}
    assert uses == {
        "apps.audit.verify._read_late",
        "apps.billing.tax_report._rows",
        "apps.console.health._database_figures",
        "apps.core.db.streams._copy",
        "apps.staff.pages.ReadOnly._list_as_it_was",
        "apps.dashboard.tables.exports.csv_file",
        "apps.dashboard.tables.files.ListFile.of_each",
        "apps.dashboard.tables.lists.Listing.csv",
        "apps.dashboard.books.statements.export",
        "apps.payments.documents.summary.sales_of",
        "apps.platforms.services.overview.overview",
        "apps.reports.selectors._asset_sums",
    }
    assert all(replica.USES.values())


# --- in the primary's place: the last test, as the replica streams no more ------------------------


def test_a_promoted_replica_takes_the_primarys_place(cast: Cast, pair: Pair) -> None:
    """By the address of both servers, without anything that is started anew; the whole story is
    tests/faults/failover.py. Nothing is created there: its sequences aren't those of the tests."""
    payment = make.payment(cast.bakery.test)
    pair.catch_up()
    hosts = f"127.0.0.1:{free_port()},127.0.0.1:{pair.replica.port}"
    address = f"postgresql://{OWNER}@{hosts}/{pair.name}?target_session_attrs=read-write"
    own = connections["default"]
    config = databases.database(Reader().db_url_config(address), is_pooled=False, is_prepared=True)
    connections["default"] = DatabaseWrapper({**own.settings_dict, **config}, "default")
    try:
        with pytest.raises(OperationalError) as away:  # it takes nobody who writes
            Payment.objects.count()
        assert is_outage(away.value)
        close_old_connections()

        pair.replica.promote()
        assert cast.bakery.test.get(f"/payments/{payment['id']}").json()["id"] == payment["id"]
        assert Store.objects.filter(pk=cast.bakery.store.pk).update(name="The new primary's") == 1
    finally:
        connections["default"].close()
        connections["default"] = own
