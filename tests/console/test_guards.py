"""The list of guards is what the migrations make.

After a migration that changes one: `WRITE_GUARDS=1 python3 manage.py test
tests/console/test_guards.py`.
"""

import os

import pytest
from django.db import connection

from apps.audit import guards
from tests.auditing import found_of

pytestmark = pytest.mark.django_db


def test_the_list_is_what_the_migrations_made() -> None:
    made = guards.text_of(guards.current())
    if os.environ.get("WRITE_GUARDS"):
        guards.FILE.write_text(made)
        guards._expected.cache_clear()
    assert guards.FILE.read_text().splitlines() == made.splitlines()


@pytest.mark.parametrize(
    ("statement", "subject"),
    [
        (
            "ALTER TABLE ledger_entry DISABLE TRIGGER entry_checked",
            "trigger ledger_entry.entry_checked",
        ),
        (
            "ALTER TABLE ledger_entry ENABLE REPLICA TRIGGER entry_checked",
            "trigger ledger_entry.entry_checked",
        ),
        (
            "DROP TRIGGER movement_append_only ON ledger_movement",
            "trigger ledger_movement.movement_append_only",
        ),
        ("ALTER TABLE payments_refund DISABLE TRIGGER ALL", "foreign keys of payments_refund"),
        (
            "ALTER TABLE agents_mandate DROP CONSTRAINT mandate_never_overspent",
            "constraint agents_mandate.mandate_never_overspent",
        ),
        (
            (
                "ALTER TABLE agents_mandate DROP CONSTRAINT mandate_never_overspent, ADD CONSTRAINT"
                " mandate_never_overspent CHECK (spent_atomic >= 0 AND spent_atomic <="
                " total_cap_atomic) NOT VALID"
            ),
            "constraint agents_mandate.mandate_never_overspent",
        ),
        (
            "DROP INDEX payment_idempotency_key_once",
            "index payments_payment.payment_idempotency_key_once",
        ),
        (
            "CREATE RULE kept AS ON INSERT TO ledger_entry DO INSTEAD NOTHING",
            "rule ledger_entry.kept",
        ),
        (
            (
                "CREATE OR REPLACE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql"
                " AS 'BEGIN RETURN NEW; END'"
            ),
            "function ledger_refuse_change()",
        ),
        (
            "ALTER FUNCTION ledger_check_entries() RESET enable_seqscan",
            "function ledger_check_entries()",
        ),
        (
            (
                "CREATE FUNCTION thief() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL;"
                " END'; CREATE TRIGGER hidden BEFORE INSERT ON payments_refund FOR EACH ROW EXECUTE"
                " FUNCTION thief()"
            ),
            "trigger payments_refund.hidden",
        ),
    ],
)
def test_a_guard_that_was_taken_off_is_named(statement: str, subject: str) -> None:
    assert found_of("guards_stand") == []
    with connection.cursor() as cursor:
        cursor.execute(statement)

    assert subject in {finding.subject for finding in found_of("guards_stand")}


def test_a_restored_dump_has_the_same_guards() -> None:
    """PostgreSQL writes what it reads from a dump with other casts than what the migrations
    said."""
    before = guards.current()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT format('ALTER TABLE %1$s DROP CONSTRAINT %2$I, ADD CONSTRAINT %2$I %3$s',"
            " conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint WHERE"
            " contype = 'c' AND conrelid <> 0 AND coninhcount = 0"
        )
        again = [item for (item,) in cursor.fetchall()]
        cursor.execute(
            "SELECT format('DROP INDEX %s; %s', indexrelid::regclass, pg_get_indexdef(indexrelid))"
            " FROM pg_index WHERE indpred IS NOT NULL AND indisunique AND indrelid::regclass::text"
            " !~ '^pg_'"
        )
        again += [item for (item,) in cursor.fetchall()]
        cursor.execute("; ".join(again))
        cursor.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname ="
            " 'payment_status_is_known'"
        )
        assert "::character varying)::text" in cursor.fetchone()[0]

    assert len(again) > 50
    assert guards.current() == before
