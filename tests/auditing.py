"""Findings of the audit for some invariants alone: a test that plants one fault needn't ask about
all others."""

from functools import cache

import pytest
from django.conf import settings
from django.db import connection, transaction

from apps.audit import custody, guards, kept, own_receipts, points, senders, touched, verify
from apps.audit.facts import FACTS
from apps.audit.invariants import INVARIANTS, parameters, product_parameters
from apps.audit.models import VerifiedPoint
from apps.audit.verify import Finding
from apps.core import clock
from apps.core.db.sql import Statement
from apps.ledger import balance_marks
from apps.ledger.models import Account
from apps.payments import daily_sums, hourly_sums
from apps.reports import hourly_bookings

# Triggers, constraints, privileges and policies: of the database, and not of what is written in it.
OF_THE_SCHEMA = ("guards_stand", "grants_stand", "policies_stand")


GUARDS_BY_NAME = {item.name for item in guards.GUARDS}


def breaches(check_chain: bool = False, *, has_migrated: bool = False) -> list[Finding]:
    """Findings of `verify.findings`, asked in one statement that a connection plans once: planning
    the audit takes ten times as long as asking it of what a test has. Facts that only a migration
    changes are asked about once in a process and after each migration, since they take four times
    as long as everything else."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")  # tells the scope: what takes it along isn't prepared
    found = [Finding(*row) for row in _all_breaches(settings.WEBHOOK_KEPT_DAYS).rows()]
    found += _found(OF_THE_SCHEMA, None) if has_migrated else _of_the_schema()
    if check_chain:
        books = custody.booked()
        for name, checked in (
            (custody.COLD_NAME, custody.compare_cold(books)),
            (senders.NAME, senders.compare(None)),
            (own_receipts.NAME, own_receipts.compare(None)),
            (custody.NAME, custody.compare(books)),
        ):
            found += [
                Finding(name, compared.subject, compared.detail)
                for compared in checked
                if compared.detail
            ]
    return found


@cache
def _all_breaches(webhook_kept_days: int) -> Statement:
    """Of the settings that the audit names, tests change the one."""
    text = " UNION ALL ".join(
        f"SELECT '{item.name}', subject::text, detail::text"
        f" FROM ({item.breaches}) breaches (subject, detail)"
        for item in INVARIANTS
        if item.name not in OF_THE_SCHEMA
    )
    with connection.cursor() as cursor:
        return Statement(cursor.mogrify(text, parameters()))


@cache
def _of_the_schema() -> list[Finding]:
    return _found(OF_THE_SCHEMA, None)


def found_of(*names: str) -> list[Finding]:
    """The breaches of the invariants with these names, as `verify.findings` lists them."""
    return _found(names, None)


def found_since(point: VerifiedPoint, *names: str) -> list[Finding]:
    """Findings of a run since that point, and what is gone of the rows that it counted."""
    snapshot = points.Snapshot.current()
    (counts,) = snapshot.row_counts(point.boundary_xid)
    gone = [Finding("verified_rows_last", *row) for row in points.missing_rows(point, counts)]
    return _found(names, point) + gone or changed_facts(point)


def changed_facts(point: VerifiedPoint, *tables: str) -> list[Finding]:
    """Findings of a run since that point, or of everything, about the records that are written
    once: of all tables, or these."""
    return [
        Finding(kept.NAME, *breach)
        for facts in FACTS
        if not tables or facts.table in tables
        for breach in kept.compare(
            facts, (point.facts or {})[facts.table], clock.real_now()
        ).breaches
    ]


def counted_since(point: VerifiedPoint) -> dict[str, int]:
    """Over how many things each invariant is asked about in a run since that point."""
    arguments = {**parameters(), **touched.touched_since(point.boundary_xid)}
    return {item.name: verify._ask(item, arguments).counted for item in INVARIANTS}


def point_here() -> VerifiedPoint:
    """A point at which everything so far is verified, in a transaction that is never committed:
    each savepoint that follows writes under a higher number."""
    with transaction.atomic():
        row = VerifiedPoint.objects.create(
            verified_at=clock.real_now(),
            boundary_xid=0,
            database_name=points.Snapshot.current().database_name,
            row_counts={},
            is_whole=True,
            is_with_chain=False,
            verified_by="test",
            took_ms=1,
        )
        with connection.cursor() as cursor:
            cursor.execute("SELECT xmin::text FROM audit_verifiedpoint WHERE id = %s", [row.pk])
            row.boundary_xid = int(cursor.fetchone()[0]) + 1
    (row.row_counts,) = points.Snapshot.current().row_counts(row.boundary_xid)
    row.facts = {facts.table: kept.compare(facts, None, row.verified_at).now for facts in FACTS}
    return row


def _found(names: tuple[str, ...], point: VerifiedPoint | None) -> list[Finding]:
    some = [item for item in INVARIANTS if item.name in names]
    assert {item.name for item in some} == set(names)
    arguments = {**product_parameters(), **touched.WHOLE}
    if not GUARDS_BY_NAME.isdisjoint(names):
        arguments |= guards.parameters()
    if point is not None:
        arguments = {**arguments, **touched.touched_since(point.boundary_xid)}
    return [finding for item in some for finding in verify._ask(item, arguments).findings]


def add_up() -> None:
    """Run the jobs that add up the accounts of stores, which here are short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(balance_marks, "ENTRIES_PER_MARK", 1)
        for account_id in Account.objects.exclude(store=None).values_list("pk", flat=True):
            daily_sums.sum_account(account_id)
            hourly_bookings.sum_account(account_id)
            balance_marks.mark_account(account_id)
    hourly_sums.sum_hours()
