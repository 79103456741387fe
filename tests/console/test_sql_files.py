"""Each function, trigger and view of the database has its definition of today in `apps/*/sql/`."""

import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from apps.audit import guards
from dev import sql_files

pytestmark = pytest.mark.django_db


def test_the_files_are_what_the_migrations_made() -> None:
    differences = [str(difference) for difference in sql_files.differences(sql_files.of_database())]
    assert not differences, "\n".join(
        [
            "Functions and triggers of the database have files. After a migration that"
            f" adds, changes or drops one, run `{sql_files.COMMAND}`, and give a new file a first"
            " line such as `-- Refuses a second refund of the same coins.`",
            *differences,
        ]
    )


def test_the_files_have_the_functions_and_triggers_of_the_list_of_guards() -> None:
    text = "\n".join(sql_files.of_files().values())
    listed = dict(line.split("\t", 1) for line in guards.FILE.read_text().splitlines())

    functions = {name[9:].partition("(")[0] for name in listed if name.startswith("function ")}
    assert functions == set(re.findall(r"^CREATE OR REPLACE FUNCTION (\w+)\(", text, re.M))
    triggers = [listed[name][2:] for name in listed if name.startswith("trigger ")]
    assert triggers
    in_files = set(map(_plain, re.findall(r"^CREATE (?:CONSTRAINT )?TRIGGER .*;$", text, re.M)))
    assert set(map(_plain, triggers)) <= in_files


def _plain(statement: str) -> str:
    """Without the casts, which a restored dump says otherwise."""
    return re.sub(r"::(character varying|text)(\[\])?", "", statement).rstrip(";")


@pytest.mark.parametrize(
    ("statement", "name", "why"),
    [
        (
            "CREATE FUNCTION ledger_new() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
            "ledger/sql/ledger_new.sql",
            "it is missing",
        ),
        (
            "CREATE OR REPLACE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql"
            " AS 'BEGIN RETURN NEW; END'",
            "ledger/sql/ledger_refuse_change.sql",
            "the database has another definition",
        ),
        (
            "ALTER FUNCTION ledger_refuse_change() SECURITY DEFINER",
            "ledger/sql/ledger_refuse_change.sql",
            "the database has another definition",
        ),
        (
            "DROP TRIGGER account_no_delete ON ledger_account",
            "ledger/sql/ledger_refuse_change.sql",
            "the database has another definition",
        ),
        (
            "CREATE TRIGGER more BEFORE DELETE ON links_paymentlink FOR EACH ROW EXECUTE FUNCTION"
            " suppress_redundant_updates_trigger()",
            "links/sql/suppress_redundant_updates_trigger.sql",
            "it is missing",
        ),
        (
            "DROP FUNCTION payments_guard_held_refund CASCADE",
            "payments/sql/payments_guard_held_refund.sql",
            "the database has nothing of the kind",
        ),
        (
            "CREATE VIEW payments_today AS SELECT 1 AS one",
            "payments/sql/payments_today.sql",
            "it is missing",
        ),
    ],
)
def test_what_differs_is_named_with_its_file(statement: str, name: str, why: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)

    assert [str(difference) for difference in sql_files.differences(sql_files.of_database())] == [
        f"apps/{name}: {why}"
    ]


def test_the_command_keeps_the_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "apps" / "ledger" / "sql").mkdir(parents=True)
    kept = tmp_path / "apps" / "ledger" / "sql" / "ledger_balance.sql"
    kept.write_text("-- The balance of an account.\nCREATE FUNCTION of another day;\n")
    gone = kept.with_name("ledger_gone.sql")
    gone.write_text("-- It is gone.\n")
    monkeypatch.setattr(sql_files, "ROOT", tmp_path)

    call_command("sql_files", write=True)

    assert kept.read_text().startswith(
        "-- The balance of an account.\nCREATE OR REPLACE FUNCTION ledger_balance("
    )
    assert not gone.exists()
    assert sql_files.of_files() == sql_files.of_database()
