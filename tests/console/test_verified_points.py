"""Points up to which everything was verified: what makes one, what a run since it reads, and what
it can't be trusted with."""

import json
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, connections, transaction

from apps.audit import points, verify
from apps.audit.models import VerifiedPoint
from apps.audit.points import LASTING_TABLES, Snapshot, UnknownPoint, find
from apps.core import clock
from apps.ledger.models import Account
from apps.payments import seals as payment_seals
from apps.stores.auditing import seals
from tests import make
from tests.auditing import counted_since, point_here
from tests.cast import Shop
from tests.console.test_verify_ledger import tamper


@pytest.fixture
def shop(bakery: Shop) -> Shop:
    make.paid(bakery.test, amount="50.00")
    return bakery


def test_a_run_without_findings_is_a_point(shop: Shop, capsys: Any) -> None:
    call_command("verify_ledger", "--json")

    answer = json.loads(capsys.readouterr().out)
    point = VerifiedPoint.objects.get()
    assert (point.is_whole, point.is_with_chain, point.since) == (True, False, None)
    assert answer["verified_at"] == clock.iso(point.verified_at)
    assert point.verified_by.startswith("verify_ledger (")
    assert point.row_counts.keys() == set(LASTING_TABLES)
    assert 0 < point.boundary_xid <= Snapshot.current().boundary_xid


def test_a_run_with_findings_moves_no_point(shop: Shop) -> None:
    tamper(
        "UPDATE ledger_entry SET amount_atomic = amount_atomic + 1 WHERE id = (SELECT max(id) FROM"
        " ledger_entry)"
    )

    audit = verify.audit()

    assert (audit.is_broken, audit.point, VerifiedPoint.objects.count()) == (True, None, 0)


def test_a_seal_kept_elsewhere_that_is_gone_moves_no_point(shop: Shop) -> None:
    assert verify.audit(seal="4711:" + "0" * 64).point is None


def test_a_run_since_a_point_reads_what_was_written_since(shop: Shop) -> None:
    point = point_here()
    assert counted_since(point)["movements_balance"] == 0
    with transaction.atomic():
        make.paid(shop.test, amount="5.00")

    counted = counted_since(point)

    assert counted["movements_balance"] == 2  # the deposit, and the settlement
    assert counted["history_whole"] == counted["payments_settled_once"] == 1
    # What is always asked of all rows.
    assert counted["checkpoints_true"] == Account.objects.count()


def test_a_boundary_is_behind_whoever_may_still_commit(
    django_db_setup: None, django_db_blocker: Any
) -> None:
    """Rows of a slow transaction are read by the next run, though later ones were seen."""
    drawn: list[int] = []
    has_drawn, may_commit = threading.Event(), threading.Event()

    def write() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()::text")
            drawn.append(int(cursor.fetchone()[0]))
            has_drawn.set()
            may_commit.wait(30)
        connections.close_all()

    with django_db_blocker.unblock():
        writer = threading.Thread(target=write)
        writer.start()
        assert has_drawn.wait(30)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()")  # a later one, which ends
        boundary_xid = Snapshot.current().boundary_xid
        may_commit.set()
        writer.join()

        assert boundary_xid <= drawn[0] < Snapshot.current().boundary_xid


def test_last_begins_at_the_newest_point(shop: Shop, capsys: Any) -> None:
    first = verify.audit().point

    call_command("verify_ledger", "--since", "last")

    lines = capsys.readouterr().out.splitlines()
    point = VerifiedPoint.objects.order_by("-pk")[0]
    assert first is not None
    assert (point.since, point.is_whole) == (first, False)
    assert lines[0].endswith(f"verified at {clock.iso(first.verified_at)}")
    scopes = {line.split()[0]: line.split()[2] for line in lines[1:-2]}
    assert (scopes["movements_balance"], scopes["checkpoints_true"]) == ("touched", "all")
    assert "verified_rows_last" in scopes


def test_without_a_point_everything_is_verified(shop: Shop, capsys: Any) -> None:
    call_command("verify_ledger", "--since", "last")

    assert capsys.readouterr().out.startswith("everything: it is due")
    assert VerifiedPoint.objects.get().is_whole


def test_everything_is_verified_again_after_some_days(shop: Shop) -> None:
    first = verify.audit().point
    assert first is not None

    assert not points.is_whole_due(0, first.verified_at + timedelta(days=900))
    assert not points.is_whole_due(7, first.verified_at + timedelta(days=6))
    assert points.is_whole_due(7, first.verified_at + timedelta(days=7))
    second = verify.audit(since="last", whole_days=7).point
    assert second is not None and not second.is_whole
    times = points.newest_times()
    assert (times["any"], times["everything"]) == (second.verified_at, first.verified_at)


def test_a_moment_and_a_seal_find_the_newest_point_up_to_them(shop: Shop) -> None:
    now = clock.real_now()
    seals.seal_lines(now)
    payment_seals.seal_payments(now)
    older, newer = point_here(), point_here()
    VerifiedPoint.objects.bulk_create(
        VerifiedPoint(
            verified_at=now + timedelta(hours=hours),
            boundary_xid=newer.boundary_xid,
            database_name=older.database_name,
            row_counts={},
            is_whole=True,
            is_with_chain=False,
            verified_by="night",
            took_ms=1,
        )
        for hours in (-2, -1, 1)
    )

    def hours_of(since: str) -> float | None:
        point = find(since)
        return None if point is None else (point.verified_at - now) / timedelta(hours=1)

    assert hours_of(clock.iso(now - timedelta(minutes=90)) or "") == -2
    assert hours_of(str(seals.newest())) == -1
    assert hours_of(str(payment_seals.newest())) == -1
    assert hours_of("2001-01-01T00:00:00Z") is None
    for unknown in ("yesterday", "4711:" + "0" * 64):
        with pytest.raises(UnknownPoint):
            find(unknown)


def test_a_point_of_another_database_is_not_continued(bakery: Shop) -> None:
    """After a restore all rows are new, and numbers of transactions mean nothing."""
    point = point_here()
    assert Snapshot(point.boundary_xid + 5, point.database_name).continues(point)

    assert not Snapshot(point.boundary_xid + 5, "another").continues(point)
    assert not Snapshot(point.boundary_xid - 1, point.database_name).continues(point)
    assert not Snapshot(point.boundary_xid + 2**31, point.database_name).continues(point)


@pytest.mark.parametrize("statement", ["UPDATE {} SET took_ms = 0", "DELETE FROM {}"])
def test_a_point_is_never_changed(bakery: Shop, statement: str) -> None:
    point_here()
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement.format("audit_verifiedpoint"))


def test_a_long_finding_is_cut(shop: Shop) -> None:
    make._correct("SETH", "available", shop.store.pk, 7, make.clerk())
    tamper(
        f"UPDATE stores_auditentry SET details = details || jsonb_build_object('account',"
        f" repeat('x', {3 * verify.DETAIL_MAX})) WHERE action = 'books.corrected'"
    )

    details = [finding.detail for finding in verify.findings()]

    assert details
    assert max(len(detail) for detail in details) <= verify.DETAIL_MAX + 1


def test_addresses_are_derived_again_since_the_last_run_with_the_chains(shop: Shop) -> None:
    assert verify.audit(check_chain=True).point is not None
    tamper("UPDATE chain_address SET index = index + 1000000")
    assert verify.audit().point is not None  # asks nothing of addresses

    found = {
        verdict.name for verdict in verify.audit(check_chain=True).verdicts if verdict.findings
    }

    assert found == {"addresses_derived"}
