"""Guards of the money in the database, compared with those that the migrations made (guards.txt,
which a test regenerates)."""

from functools import cache
from pathlib import Path

from django.db import connection

from apps.audit import grants, policies
from apps.core.db import uuids
from apps.core.db.sql import Arguments
from apps.core.invariant import Invariant
from apps.ledger.chart import CHART

FILE = Path(__file__).with_name("guards.txt")
_TABLES = (
    "^(ledger|payments|chain|payouts|swaps|agents|billing|links|onramp|webhooks|stores_audit"
    "|stores_staffrequest|stores_workerorder|stores_user|assets|audit)"
)
# Every name once. Of a trigger also whether it fires for everybody (O); of a function only a hash,
# which its settings are part of. What a partition has from its table counts if it is off; what each
# partition has by itself is one guard, as if it were of the table.
_MADE = f"""
SELECT 'trigger ' || c.relname || '.' || t.tgname AS name, t.tgenabled::text || ' ' ||
    pg_get_triggerdef(t.oid, true) AS definition
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname ~ '{_TABLES}'
    AND NOT t.tgisinternal AND (t.tgparentid = 0 OR t.tgenabled <> 'O')
UNION ALL SELECT 'foreign keys of ' || c.relname, 'off: ' || min(t.tgname) FROM pg_trigger t
    JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname ~ '{_TABLES}' AND t.tgisinternal
    AND t.tgenabled NOT IN ('O', 'A')
GROUP BY c.relname
UNION ALL SELECT 'constraint ' || c.relname || '.' || k.conname,
       CASE WHEN k.convalidated THEN '' ELSE 'not validated '
           END || pg_get_constraintdef(k.oid, true)
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname ~ '{_TABLES}'
    AND k.contype IN ('c', 'f', 'p', 'u', 'x') AND k.conparentid = 0 AND NOT c.relispartition
UNION ALL SELECT 'constraint ' || p.relname || '.' || k.conname || ' of each partition',
       CASE count(*) WHEN (SELECT count(*) FROM pg_inherits n WHERE n.inhparent = p.oid) THEN ''
           ELSE count(*) || ' have it: ' END ||
       string_agg(DISTINCT CASE WHEN k.convalidated THEN '' ELSE 'not validated ' END ||
           replace(pg_get_constraintdef(k.oid, true), substr(c.relname, length(p.relname) + 1)
               || '(', '('), '; ')
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid AND c.relispartition
JOIN pg_inherits i ON i.inhrelid = c.oid JOIN pg_class p ON p.oid = i.inhparent
WHERE p.relnamespace = current_schema()::regnamespace AND p.relname ~ '{_TABLES}'
    AND k.contype = 'f' AND k.conparentid = 0 GROUP BY p.oid, p.relname, k.conname
UNION ALL SELECT 'index ' || c.relname || '.' || x.relname,
       CASE WHEN i.indisvalid AND i.indislive THEN '' ELSE 'not valid '
           END || pg_get_indexdef(i.indexrelid, 0, true)
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname ~ '{_TABLES}' AND i.indisunique
  AND NOT x.relispartition
  AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid
      AND k.contype IN ('p', 'u', 'x'))
UNION ALL SELECT 'rule ' || tablename || '.' || rulename, definition FROM pg_rules
WHERE schemaname = current_schema() AND tablename ~ '{_TABLES}'
UNION ALL
    SELECT 'function ' || p.oid::regprocedure,
    encode(sha256(convert_to(concat_ws(E'\\n', p.prosrc, p.proconfig::text,
       p.prosecdef, p.provolatile, pg_get_function_result(p.oid)), 'UTF8')), 'hex')
FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND p.prokind IN ('f', 'p')
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
"""  # noqa: S608  # our own text
# A dump that was restored says the same with other casts.
_CURRENT = rf"""
SELECT name, regexp_replace(definition, '::(character varying|text)(\[\])?', '', 'g') AS definition
    FROM ({_MADE}) made
"""  # noqa: S608  # our own text

GUARDS = (
    Invariant(
        "guards_stand",
        "Triggers, constraints, unique indexes and functions are enabled and as the "
        "migrations created them",
        f"SELECT count(*) FROM ({_CURRENT}) guards",  # noqa: S608  # our own text
        f"""
SELECT coalesce(e.name, c.name), CASE WHEN c.name IS NULL THEN 'it is gone'
    WHEN e.name IS NULL THEN 'no migration made it: ' || c.definition
    ELSE 'it is ' || c.definition || ', the migrations made ' || e.definition END
FROM unnest(%(guard_names)s::text[], %(guard_definitions)s::text[]) e(name, definition)
FULL JOIN ({_CURRENT}) c ON c.name = e.name WHERE c.definition IS DISTINCT FROM e.definition
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "grants_stand",
        "Each role has exactly the privileges in grants.txt, nobody else has any, and no role "
        "makes tables of its own",
        f"SELECT count(*) FROM ({grants.GIVEN}) given",  # noqa: S608  # our own text
        f"""
SELECT coalesce(e.grantee, g.grantee), CASE WHEN g.grantee IS NULL THEN 'it may no longer '
    ELSE 'it may also ' END
       || coalesce(e.privilege, g.privilege) || ' ' ||
           rtrim(coalesce(e.relation, g.relation) || '.' || coalesce(e.part, g.part), '.')
FROM unnest(%(grant_roles)s::text[], %(grant_privileges)s::text[], %(grant_tables)s::text[],
    %(grant_columns)s::text[])
     e(grantee, privilege, relation, part)
FULL JOIN ({grants.GIVEN}) g ON (e.grantee, e.privilege, e.relation, e.part) = (g.grantee,
    g.privilege, g.relation, g.part)
WHERE e.grantee IS NULL OR g.grantee IS NULL
UNION ALL SELECT grantee, 'it may also ' || privilege || ' in ' || name FROM ({grants.OPEN}) place
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "policies_stand",
        "The web role sees the rows that policies.txt allows, and every other role all rows",
        f"SELECT count(*) FROM ({policies.MADE}) made",  # noqa: S608  # our own text
        f"""
SELECT coalesce(e.relation, m.relation), CASE WHEN m.relation IS NULL THEN 'it is gone: '
    ELSE 'policies.txt doesn''t say it: ' END
       || coalesce(e.policy, m.policy) || ' ' || coalesce(e.definition, m.definition)
FROM unnest(%(policy_tables)s::text[], %(policy_names)s::text[],
    %(policy_definitions)s::text[]) e(relation, policy, definition)
FULL JOIN ({policies.MADE}) m ON (e.relation, e.policy, e.definition) = (m.relation, m.policy,
    m.definition)
WHERE e.relation IS NULL OR m.relation IS NULL
""",  # noqa: S608  # our own text
    ),
    Invariant(
        "accounts_guarded",
        "An account is guarded exactly when the chart says so",
        "SELECT count(*) FROM ledger_account",
        """
SELECT 'account ' || id, kind || CASE WHEN is_guarded THEN ' is guarded' ELSE ' is not guarded' END
    FROM ledger_account
WHERE is_guarded <> (kind = ANY (%(guarded_kinds)s)) OR kind <> ALL (%(kinds)s)
""",
    ),
)


def parameters() -> Arguments:
    """Parameters of the comparison."""
    expected = {**_expected(), **uuids.guards()}
    granted = sorted(grants.expected())
    expected_policies = sorted(policies.expected())
    return {
        "grant_roles": [item.role for item in granted],
        "grant_privileges": [item.privilege for item in granted],
        "grant_tables": [item.table for item in granted],
        "grant_columns": [item.column for item in granted],
        "policy_tables": [item.table for item in expected_policies],
        "policy_names": [item.name for item in expected_policies],
        "policy_definitions": [item.definition for item in expected_policies],
        "guard_names": list(expected),
        "guard_definitions": list(expected.values()),
        "guarded_kinds": [kind for kind, row in CHART.items() if row.is_guarded],
        "kinds": list(CHART),
    }


def current() -> dict[str, str]:
    """The guards of this database, by name."""
    with connection.cursor() as cursor:
        cursor.execute(_CURRENT)
        return dict(sorted(cursor.fetchall()))


def text_of(guards: dict[str, str]) -> str:
    """The text of guards.txt: a line per guard."""
    return "".join(
        f"{name}\t{' '.join(definition.split())}\n" for name, definition in sorted(guards.items())
    )


@cache
def _expected() -> dict[str, str]:
    lines = FILE.read_text().splitlines()
    return dict(line.split("\t", 1) for line in lines)
