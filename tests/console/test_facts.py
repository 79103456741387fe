"""Facts that are written once: every column of every table of money or of a promise is one that a
later run finds changed, or says what compares it instead; and so is every row."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection

from apps.audit import derived, grants, kept, verify
from apps.audit.fact_tables import Facts
from apps.audit.facts import ELSEWHERE, FACTS
from apps.chain.models import OutgoingTransaction
from apps.chain.sending import sender
from apps.chain.sending.hot_wallets import resolve_as_unsent
from apps.core import clock
from apps.core.ids import new_id
from tests import make
from tests.auditing import changed_facts, point_here
from tests.cast import Shop
from tests.console.test_plantings import SAFE, books, rolled_back

__all__ = ["books"]
pytestmark = pytest.mark.rolls_back
BY_TABLE = {facts.table: facts for facts in FACTS}


def types_of(table: str) -> dict[str, tuple[str, str]]:
    """By column: its type's category and name."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT a.attname, t.typcategory, t.typname FROM pg_attribute a JOIN pg_type t ON t.oid"
            " = a.atttypid WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT"
            " a.attisdropped",
            [table],
        )
        return {name: (category, kind) for name, category, kind in cursor.fetchall()}


def test_every_table_is_kept_or_says_why_not() -> None:
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    assert tables == {*BY_TABLE, *ELSEWHERE}
    assert not set(BY_TABLE) & set(ELSEWHERE)


@pytest.mark.parametrize("table", BY_TABLE)
def test_every_column_is_kept_or_says_what_compares_it(db: None, table: str) -> None:
    facts = BY_TABLE[table]
    assert sorted([facts.key, *facts.names, *facts.moving]) == sorted(types_of(table))


def test_no_role_may_delete_what_is_kept(db: None) -> None:
    deleting = {
        table
        for table, cells in grants.decided().items()
        if any("D" in cell.partition(" ")[0] for cell in cells)
    }
    assert {facts.table for facts in FACTS if not facts.is_pruned} & deleting == set()


def other_value(table: str, column: str) -> str:
    category, kind = types_of(table)[column]
    if kind == "uuid":
        return "gen_random_uuid()"
    if kind == "jsonb":
        return "jsonb_build_object('x', 1)"
    if kind == "bool":
        return f"NOT coalesce({column}, false)"
    if category == "N":
        return f"coalesce({column}, 0) + 1"
    if category == "D":
        return f"coalesce({column}, now()) + interval '1 day'"
    if category == "A":
        return f"ARRAY['1']::{kind.removeprefix('_')}[]"
    rest = f"substr({column}, 2)"
    return f"CASE left({column}, 1) WHEN 'z' THEN 'y' ELSE 'z' END || coalesce({rest}, '')"


def plant(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement)
        count = cursor.rowcount
        cursor.execute("SET LOCAL session_replication_role = origin")
    return int(count)


def one_row(facts: Facts) -> str:
    return f"(SELECT {facts.key} FROM {facts.table} LIMIT 1)"


def constraints_dropped(table: str) -> None:
    """A thief who owns the database takes the checks off first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'c'",
            [table],
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")


MADE = {"N": "1", "D": "now()", "A": "'{}'", "B": "false"}


def made_row(table: str) -> None:
    """A row where the books have none."""
    constraints_dropped(table)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attgenerated <> ''",
            [table],
        )
        computed = {name for (name,) in cursor.fetchall()}
    values = {
        name: {"uuid": f"'{new_id()}'::uuid", "jsonb": "'{}'", "xid8": "'1'"}.get(kind)
        or MADE.get(category, "'x'")
        for name, (category, kind) in types_of(table).items()
        if name not in computed
    }
    plant(
        f"INSERT INTO {table} ({', '.join(values)}) OVERRIDING SYSTEM VALUE SELECT"
        f" {', '.join(values.values())} WHERE NOT EXISTS (SELECT FROM {table})"
    )


@pytest.mark.parametrize("table", BY_TABLE)
def test_each_changed_column_and_each_deleted_row_is_found(books: Shop, table: str) -> None:
    facts = BY_TABLE[table]
    missed = []
    with rolled_back():
        made_row(table)
        point = point_here()
        assert changed_facts(point, table) == []
        for column in facts.names:
            with rolled_back():
                changed = f"UPDATE {table} SET {column} = {other_value(table, column)}"
                assert plant(f"{changed} WHERE {facts.key} = {one_row(facts)}") == 1
                if not facts.grows and not changed_facts(point, table):
                    missed.append(column)
        assert missed == []
        assert plant(f"DELETE FROM {table} WHERE {facts.key} = {one_row(facts)}") == 1
        assert [finding.subject.split()[0] for finding in changed_facts(point, table)] == [table]


def test_whole_runs_and_runs_since_a_point_find_what_is_gone(bakery: Shop, capsys: Any) -> None:
    make.paid(bakery.test)
    first = verify.audit().point
    assert first is not None and set(first.facts) == set(BY_TABLE)
    assert plant("DELETE FROM chain_deposit") == 1

    for options in ([], ["--since", "last"]):
        with pytest.raises(SystemExit):
            call_command("verify_ledger", "--json", *options)
        answer = json.loads(capsys.readouterr().out)
        (verdict,) = [item for item in answer["invariants"] if item["name"] == kept.NAME]
        assert verdict["broken"] == 1
        assert verdict["findings"][0]["detail"] == "it was verified, and is gone"


def test_what_is_explained_is_not_compared_again(bakery: Shop) -> None:
    make.paid(bakery.test)
    assert verify.audit().point is not None
    plant("UPDATE payments_payment SET title = 'Other'")

    assert verify.audit().point is None
    assert verify.audit(anew=True).point is not None
    assert verify.audit(since="last").point is not None


def test_old_rows_are_found_by_the_time_of_their_key(bakery: Shop) -> None:
    make.paid(bakery.test)
    facts = BY_TABLE["payments_payment"]
    at = clock.real_now() + timedelta(hours=1)
    before = kept.compare(facts, None, at).now
    assert (before["newest"], [count for count, _ in before["sums"].values()]) == ({}, [1])
    plant("UPDATE payments_payment SET title = 'Other'")

    (breach,) = kept.compare(facts, before, at + timedelta(days=40)).breaches

    assert breach[0].startswith("payments_payment from 20")
    assert breach[1] == "1 rows were verified, 1 of them are there, and not as they were"


def test_events_of_long_ago_may_be_gone(bakery: Shop, settings: Any) -> None:
    make.paid(bakery.test)
    facts = BY_TABLE["webhooks_event"]
    at = clock.real_now() + timedelta(hours=1)
    before = kept.compare(facts, None, at).now
    plant("DELETE FROM webhooks_event")

    assert kept.compare(facts, before, at + timedelta(days=1)).breaches != []
    late = at + timedelta(days=settings.WEBHOOK_KEPT_DAYS)
    assert kept.compare(facts, before, late).breaches == []


def test_the_newest_events_of_a_point_may_be_gone_in_their_time(
    bakery: Shop, settings: Any
) -> None:
    """Of a run long after the last one; those with a random key, from long ago, don't say when."""
    make.paid(bakery.test)
    facts = BY_TABLE["webhooks_event"]
    at = clock.real_now()
    late = at + timedelta(days=settings.WEBHOOK_KEPT_DAYS)
    newest = kept.compare(facts, None, at).now
    assert newest["newest"]
    plant("UPDATE webhooks_event SET id = gen_random_uuid()")
    random = kept.compare(facts, None, at).now
    assert list(random["sums"]) == [""]
    plant("DELETE FROM webhooks_event")

    assert kept.compare(facts, newest, at).breaches != []
    assert kept.compare(facts, newest, late).breaches == []
    assert kept.compare(facts, random, at).breaches == []


def test_what_was_never_signed_may_be_asked_for_again(bakery: Shop) -> None:
    """By staff, who let it go: only its time is another."""
    at = clock.real_now()
    asked = {"purpose": "cold", "reference": "SETH:0", "mode": "test", "at": at}
    sender.request(chain_id="sepolia", asset_id="SETH", to=SAFE, amount_atomic=2000, **asked)
    rows = OutgoingTransaction.objects.filter(purpose="cold")
    rows.update(status="review", finished_at=at)
    point = point_here()

    resolve_as_unsent(rows.get(), at + timedelta(minutes=1))

    assert rows.get().requested_at > at
    assert changed_facts(point, "chain_outgoingtransaction") == []


@pytest.mark.parametrize("planted", ["UPDATE {} SET index = index + 1", "DELETE FROM {}"])
def test_an_address_is_the_one_at_its_index(bakery: Shop, planted: str) -> None:
    make.payment(bakery.test)
    row = point_here()
    assert derived.compare(None)[1] == derived.compare(row.boundary_xid)[1] == []
    with rolled_back():
        count = plant(
            f"{planted.format('chain_address')} WHERE address = (SELECT min(address_id) FROM"
            " payments_paymentaddress)"
        )

        assert count == 1
        for boundary in (None, row.boundary_xid):
            assert len(derived.compare(boundary)[1]) == 1
