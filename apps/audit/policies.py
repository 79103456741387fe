"""Rows of each table that the web's role is shown: policies.txt, brought to PostgreSQL after every
migration and compared by verify_ledger.

The scope of a connection is in its settings, which apps.core.db.postgresql sets; a connection
without them sees no owned row.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.db import connection, transaction

from apps.audit import grants
from apps.audit.grants import READER, SIGNER, WATCHER, WEB, WORKER

FILE = Path(__file__).with_name("policies.txt")
IN_SCOPE = "rows_in_scope"
ALL_ROWS = "all_rows"
# In the words in which PostgreSQL tells them, so that they can be compared. Each setting is read,
# and cast, once per statement: a list looks at many rows.
_SETTING = (
    "( SELECT (NULLIF(current_setting('tillgate.{}'::text, true), ''::text)){} AS \"nullif\")"
)
_EVERYONE = "(current_setting('tillgate.modes'::text, true) = '{all}'::text)"
_MODE = f"((mode)::text = ANY ({_SETTING.format('modes', '::text[]')}::text[]))"
_STORE = f"(store_id = ANY ({_SETTING.format('stores', '::uuid[]')}::uuid[]))"
_TOLD = f"(store_id = ANY ({_SETTING.format('told', '::uuid[]')}::uuid[]))"
_ONCE = re.compile(r"\( SELECT (\(NULLIF\(.*?\)\)::\w+\[\]) AS \"nullif\"\)::\w+\[\]")
# Of a row that is written, the same without the queries: to set one up takes longer than to read
# the setting for a row. So it is for the platform of rows that aren't of the store itself.
_PLATFORM = _ONCE.sub(r"\1", _STORE.replace("store_id", "platform_id"))
RULES = {
    "own": f"(({_STORE} AND {_MODE}) OR {_EVERYONE})",
    "service": f"((((store_id IS NULL) OR {_STORE}) AND {_MODE}) OR {_EVERYONE})",
    "books": f"((((store_id IS NULL) OR {_TOLD}) AND {_MODE}) OR {_EVERYONE})",
    "shared": f"((({_STORE} OR {_PLATFORM}) AND {_MODE}) OR {_EVERYONE})",
    "platform": f"(({_STORE.replace('store_id', 'platform_id')} AND {_MODE}) OR {_EVERYONE})",
    "told": f"(({_TOLD} AND {_MODE}) OR {_EVERYONE})",
    "store": f"({_STORE} OR {_EVERYONE})",
}
CHECKS = {name: _ONCE.sub(r"\1", rule) for name, rule in RULES.items()}
# Every policy of this database, and tables that have theirs switched on.
MADE = """
SELECT c.relname::text AS relation, p.polname::text AS policy,
    concat_ws(' ', p.polcmd, p.polpermissive,
       (SELECT string_agg(coalesce(r.rolname, 'public'), ',' ORDER BY r.rolname)
        FROM unnest(p.polroles) one LEFT JOIN pg_roles r ON r.oid = one),
       pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) AS definition
FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
    WHERE c.relnamespace = current_schema()::regnamespace
UNION ALL SELECT c.relname, 'on', c.relforcerowsecurity::text FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relrowsecurity
"""


class RowPolicy(NamedTuple):
    """Of one table: a policy, or that it has any ("on"), as PostgreSQL tells them."""

    table: str
    name: str
    definition: str


@cache
def decided() -> dict[str, tuple[str, str]]:
    """By table: the rule, and why there is none, as the file says it."""
    lines = [
        line.split("\t")
        for line in FILE.read_text().splitlines()
        if line and not line.startswith("#")
    ]
    return {table: (rule, "".join(reason)) for table, rule, *reason in lines}


def expected() -> set[RowPolicy]:
    """Policies in the file, for the tables that exist."""
    there = set(connection.introspection.table_names())
    policies = set()
    for table, (rule, _) in decided().items():
        if rule == "-" or table not in there:
            continue
        policies.add(RowPolicy(table, "on", "false"))
        policies.add(RowPolicy(table, IN_SCOPE, f"* t {WEB} {RULES[rule]} {CHECKS[rule]}"))
        policies.add(RowPolicy(table, ALL_ROWS, f"* t {','.join(_others(table))} true"))
    return policies


def _others(table: str) -> list[str]:
    """The roles that are shown every row: the watcher where it is given anything."""
    cells = dict(zip(grants.ROLES, grants.decided()[table], strict=True))
    return sorted(
        role for role in (READER, SIGNER, WATCHER, WORKER) if role != WATCHER or cells[role] != "-"
    )


def current() -> set[RowPolicy]:
    """Policies in this database."""
    with connection.cursor() as cursor:
        cursor.execute(MADE)
        return {RowPolicy(*row) for row in cursor.fetchall()}


def differences() -> tuple[set[RowPolicy], set[RowPolicy]]:
    """(missing, too much)."""
    required = expected()
    there = current()
    return required - there, there - required


@transaction.atomic
def apply() -> int:
    """Bring the policies of each table that differs to what the file says; how many tables did. The
    roles are there."""
    missing, too_much = differences()
    tables = sorted({policy.table for policy in missing | too_much})
    with connection.cursor() as cursor:
        for table in tables:
            for policy in sorted(current()):
                if policy.table == table and policy.name != "on":
                    cursor.execute(f'DROP POLICY "{policy.name}" ON "{table}"')
            rule = decided().get(table, ("-", ""))[0]
            on = "DISABLE" if rule == "-" else "ENABLE"
            cursor.execute(
                f'ALTER TABLE "{table}" {on} ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY'
            )
            if rule != "-":
                cursor.execute(
                    f'CREATE POLICY {IN_SCOPE} ON "{table}" TO {WEB} USING {RULES[rule]} WITH CHECK'
                    f" {CHECKS[rule]}"
                )
                cursor.execute(
                    f'CREATE POLICY {ALL_ROWS} ON "{table}" TO {", ".join(_others(table))} USING'
                    " (true)"
                )
    return len(tables)
