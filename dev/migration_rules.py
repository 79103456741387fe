"""Rules for a migration while the previous release still runs: judged by squawk, which parses the
SQL as PostgreSQL does, for every migration but squashed ones, which run in an empty database alone
(decision 334).

A step that old code can't live with (contract) names the release that stopped using it, in
`unused_since = "0.2.0"` of the migration; that release must be in the changelog.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.db.models import ForeignKey

ROOT = Path(__file__).resolve().parent.parent
SQUAWK = Path(sys.prefix) / "bin" / "squawk"
POSTGRES = "18.0"
# Of squawk's rules, those that this house decides otherwise: types are Django's, constraints are
# dropped to be widened, and how long a statement may take is a setting of the operator's (an index
# of a large table takes hours).
LEFT_OUT = (
    "ban-char-field",
    "ban-drop-constraint",
    "prefer-bigint-over-int",
    "prefer-bigint-over-smallint",
    "prefer-identity",
    "prefer-robust-stmts",
    "prefer-text-field",
    "prefer-timestamptz",
    "require-statement-timeout",
)
# Tables of a few rows, a handful for each chain: what is done to all of their rows is done in
# milliseconds, under the lock timeout that each migration sets.
FEW_ROWS = ("chain_hotwallet",)
# Rules about how long all rows take; what breaks the previous release is refused there as well.
SLOW_WITH_ROWS = {
    "adding-field-with-default",
    "adding-serial-primary-key-field",
    "constraint-missing-not-valid",
    "disallowed-unique-constraint",
    "require-concurrent-index-deletion",
}
# What breaks the previous release, which runs beside the new one during an upgrade.
CONTRACT = {
    "adding-not-nullable-field",
    "adding-required-field",
    "ban-drop-column",
    "ban-drop-default",
    "ban-drop-table",
    "changing-column-type",
    "renaming-column",
    "renaming-table",
}
HOW = {
    "adding-foreign-key-constraint": "add the column first; then the constraint with NOT VALID, and"
    " VALIDATE it in the next migration",
    "adding-not-nullable-field": "set it in the release after the one that always writes it",
    "adding-required-field": "give it db_default, or null=True until all rows have a value",
    "ban-drop-column": "stop using it in one release, drop it in the next",
    "ban-drop-default": "old code writes no such column: give it db_default beside its default",
    "ban-drop-table": "stop using it in one release, drop it in the next",
    "changing-column-type": "add a column of the new type, write both, read the new one, drop the"
    " old one in the next release",
    "constraint-missing-not-valid": "AddConstraintNotValid, and ValidateConstraint in the next"
    " migration",
    "disallowed-unique-constraint": "build the unique index with AddIndexConcurrently or RunSQL"
    " first, then ADD CONSTRAINT … USING INDEX",
    "renaming-column": "add a column of the new name, write both, drop the old one in the next"
    " release",
    "renaming-table": "keep the table's name with db_table",
    "require-concurrent-index-creation": "AddIndexConcurrently in a migration with atomic = False",
    "require-concurrent-index-deletion": "RemoveIndexConcurrently in a migration with atomic ="
    " False",
    "require-lock-timeout": "begin with RunSQL(\"SET LOCAL lock_timeout = '5s'\", RunSQL.noop)",
}
# PostgreSQL checks no row for a reference of a column that it adds without values.
_EMPTY_REFERENCE = re.compile(r'ADD COLUMN "\w+" [\w()]+ NULL CONSTRAINT "\w+" REFERENCES')
_CREATED = re.compile(r'^CREATE TABLE "(\w+)"', re.MULTILINE)
_CHANGED = re.compile(r'(?:^ALTER TABLE | ON )"?(\w+)"?')
_DROPPED_INDEX = re.compile(r'^DROP INDEX (?:IF EXISTS )?"?(\w+)"?')
_TYPE = re.compile(r'^ALTER TABLE "(\w+)" ALTER COLUMN "(\w+)" TYPE varchar\((\d+)\)')


@dataclass(frozen=True)
class MigrationFinding:
    """A rule's refusal of a statement in a migration."""

    migration: str
    rule: str
    statement: str
    why: str

    def __str__(self) -> str:
        advice = f"\n    instead: {HOW[self.rule]}" if self.rule in HOW else ""
        return f"{self.migration}: {self.rule}: {self.why}\n    {self.statement[:200]}{advice}"


def refused() -> list[MigrationFinding]:
    """Refusals in the migrations that run beside old code."""
    loader = MigrationLoader(None)
    findings = []
    for migration in _judged(loader):
        state = loader.project_state((migration.app_label, migration.name), at_end=False)
        findings += refused_of(migration, state)
    return findings


def _judged(loader: MigrationLoader) -> Iterable[Migration]:
    """In the order of their names."""
    for _, migration in sorted(loader.disk_migrations.items()):
        if type(migration).__module__.startswith("apps.") and not migration.replaces:
            yield migration


def refused_of(migration: Migration, state: ProjectState) -> list[MigrationFinding]:
    """Refusals in one migration, which begins from the state of the models."""
    title = f"{migration.app_label} {migration.name}"
    release = getattr(migration, "unused_since", "")
    findings = []
    if release and release not in releases():
        why = "This release isn't in CHANGELOG.md: it isn't out."
        findings.append(MigrationFinding(title, "unused-since", release, why))
    sql = _sql_of(migration, state.clone())
    if not migration.atomic:
        for statement in _outside_of_indexes(sql):
            why = "Without a transaction only indexes are built and dropped, CONCURRENTLY."
            findings.append(MigrationFinding(title, "not-atomic", statement, why))
    created = set(_CREATED.findall(sql))
    for finding in _judged_sql(title, sql, is_atomic=migration.atomic):
        is_expected = finding.rule in CONTRACT and bool(release)
        if not (is_expected or _is_harmless(finding, created) or _is_wider(finding, state)):
            findings.append(finding)
    return findings


def _outside_of_indexes(sql: str) -> list[str]:
    """The statements that aren't about an index that is built or dropped while others write."""
    statements = (statement.strip() for statement in sql.split(";"))
    return [
        statement[:200]
        for statement in statements
        if re.sub(r"^--.*$", "", statement, flags=re.MULTILINE).strip()
        and " INDEX CONCURRENTLY " not in statement
    ]


def _is_harmless(finding: MigrationFinding, created: set[str]) -> bool:
    """True if nobody waits: the table is of this migration, the column has no values yet, or the
    lock lets others read and write while it is waited for."""
    if finding.rule == "require-lock-timeout":
        return " INDEX CONCURRENTLY " in finding.statement
    if finding.rule == "adding-foreign-key-constraint" and _EMPTY_REFERENCE.search(
        finding.statement
    ):
        return True
    table = _CHANGED.search(finding.statement)
    if table is not None and table[1] in created:
        return True
    index = _DROPPED_INDEX.search(finding.statement)
    name = index[1] if index is not None else f"{table[1]}_" if table is not None else ""
    is_small = name.startswith(tuple(f"{few}_" for few in FEW_ROWS))
    return is_small and finding.rule in SLOW_WITH_ROWS


def _is_wider(finding: MigrationFinding, state: ProjectState) -> bool:
    """True if a text may only get longer, which rewrites nothing and breaks no code."""
    change = _TYPE.match(finding.statement)
    if finding.rule != "changing-column-type" or change is None:
        return False
    table, column, length = change.groups()
    for model in state.apps.get_models():
        if model._meta.db_table == table:
            field = next(row for row in model._meta.fields if row.column == column)
            told = field.target_field if isinstance(field, ForeignKey) else field
            return told.max_length is not None and told.max_length <= int(length)
    return False


def releases() -> set[str]:
    """The releases that are out, by the changelog."""
    return set(
        re.findall(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    )


def _sql_of(migration: Migration, state: ProjectState) -> str:
    """The statements that a migration would run; what Python does in one isn't seen."""
    with connection.schema_editor(collect_sql=True, atomic=migration.atomic) as editor:
        migration.apply(state, editor, collect_sql=True)
    return "\n".join(editor.collected_sql)


def _judged_sql(title: str, sql: str, *, is_atomic: bool) -> list[MigrationFinding]:
    """squawk's verdict on a migration's SQL."""
    command = [
        str(SQUAWK),
        "--pg-version",
        POSTGRES,
        "--reporter",
        "json",
        *(["--assume-in-transaction"] if is_atomic else []),
        *(f"--exclude={rule}" for rule in LEFT_OUT),
        "--stdin-filepath",
        "migration.sql",
    ]
    run = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1) or not run.stdout.strip():
        raise RuntimeError(f"squawk failed: {run.stderr.strip() or run.returncode}")
    lines = sql.splitlines()
    return [
        MigrationFinding(
            title, finding["rule_name"], lines[finding["line"]].strip(), finding["message"]
        )
        for finding in json.loads(run.stdout)
    ]
